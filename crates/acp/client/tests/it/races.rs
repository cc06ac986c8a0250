//! Turns that are cancelled at random moments, by an agent and a client of ours, on a clock that is paused. A seed
//! decides everything, so a failure can be played again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agentwire_acp_agent::{Agent, Context as AgentContext, Error, serve};
use agentwire_acp_client::{CallError, Client, ConnectionError, Context, connect};
use agentwire_acp_schema::v1::*;
use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_schema_tests::{self as schema_tests, Conversation, checked};
use agentwire_sync::Mutex;
use agentwire_transport::{Direction, Packet, duplex, tap};
use futures::future::{Either, join_all, select};
use tokio::time::sleep;

use crate::recorder::greeting;

const SEEDS: u64 = 200;
const SESSIONS: u64 = 3;
const TURNS: u64 = 5;

/// Numbers that look like chance and are not.
pub(crate) struct Dice(AtomicU64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    pub(crate) fn below(&self, limit: u64) -> u64 {
        let mut x = self.0.load(Ordering::Relaxed);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.store(x, Ordering::Relaxed);
        (x >> 11) % limit
    }

    pub(crate) fn moment(&self) -> Duration {
        Duration::from_millis(self.below(40))
    }
}

/// The records of both sides, by the text of the prompt, which is different for every turn.
#[derive(Default)]
struct Seen {
    /// Updates that the agent sent, and whether it had been cancelled when the turn ended.
    ended: BTreeMap<String, (usize, bool)>,
    heard: BTreeMap<String, Vec<usize>>,
    /// Sessions without a turn since a turn was cancelled.
    cancelled: BTreeSet<SessionId>,
    faults: Vec<String>,
    /// How many turns ended how, and how many permissions the end of a turn cost.
    stops: BTreeMap<&'static str, u64>,
}

#[derive(Clone)]
struct Side {
    seen: Arc<Mutex<Seen>>,
    dice: Arc<Dice>,
}

impl Agent for Side {
    async fn initialize(&self, req: InitializeRequest, _: AgentContext) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(req.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: AgentContext) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new(format!("session-{}", self.dice.below(u64::MAX))))
    }

    /// Works a while; stops when cancelled, or does not look, or fails because of it.
    async fn prompt(&self, request: PromptRequest, cx: AgentContext) -> Result<PromptResponse, Error> {
        let name = request.prompt[0].as_text().unwrap().to_owned();
        let manners = self.dice.below(3);
        let mut said = 0;
        for _ in 0..self.dice.below(8) {
            if manners > 0 && cx.is_cancelled() {
                break;
            }
            self.work(&request.session_id, &name, &mut said, &cx).await?;
        }
        self.seen.lock().ended.insert(name, (said, cx.is_cancelled()));
        match manners {
            1 if cx.is_cancelled() => Err(Error::internal_error("aborted")),
            _ => Ok(PromptResponse::new(StopReason::EndTurn)),
        }
    }
}

impl Side {
    async fn work(
        &self,
        session: &SessionId,
        name: &str,
        said: &mut usize,
        cx: &AgentContext,
    ) -> Result<(), Error> {
        let client = cx.client();
        match self.dice.below(5) {
            0 => {
                let option = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
                let call = ToolCallUpdate::new(name);
                let request = RequestPermissionRequest::new(session, call, [option]);
                if client.request_permission(request).await?.outcome == RequestPermissionOutcome::Cancelled {
                    *self.seen.lock().stops.entry("not permitted").or_default() += 1;
                }
            }
            1 => {
                client.read_text_file(ReadTextFileRequest::new(session, "/a")).await?;
            }
            2 => {
                let terminal = client.create_terminal(CreateTerminalRequest::new(session, "ls")).await?;
                client
                    .wait_for_terminal_exit(WaitForTerminalExitRequest::new(session, terminal.terminal_id))
                    .await?;
            }
            3 => sleep(self.dice.moment()).await,
            _ => {
                for _ in 0..self.dice.below(6) {
                    let text = format!("{name}/{said}");
                    client.session_update(SessionNotification::message(session, text)).await?;
                    *said += 1;
                }
            }
        }
        Ok(())
    }

    fn fault(&self, what: String) {
        self.seen.lock().faults.push(what);
    }
}

impl Client for Side {
    fn session_update(&self, notification: SessionNotification) {
        let SessionUpdate::AgentMessageChunk(chunk) = notification.update else { return };
        let (name, number) = chunk.content.as_text().unwrap().rsplit_once('/').unwrap();
        self.seen.lock().heard.entry(name.into()).or_default().push(number.parse().unwrap());
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        if self.seen.lock().cancelled.contains(&request.session_id) {
            self.fault(format!("{} asked the user after its cancellation", request.tool_call.tool_call_id));
        }
        sleep(self.dice.moment()).await;
        Ok(request.allow())
    }

    async fn read_text_file(
        &self,
        _: ReadTextFileRequest,
        _: Context,
    ) -> Result<ReadTextFileResponse, Error> {
        sleep(self.dice.moment()).await;
        Ok(ReadTextFileResponse::new("text"))
    }

    async fn create_terminal(
        &self,
        _: CreateTerminalRequest,
        _: Context,
    ) -> Result<CreateTerminalResponse, Error> {
        Ok(CreateTerminalResponse::new("t"))
    }

    async fn wait_for_terminal_exit(
        &self,
        _: WaitForTerminalExitRequest,
        _: Context,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        sleep(self.dice.moment()).await;
        Ok(WaitForTerminalExitResponse::new())
    }
}

impl Side {
    /// One turn, left alone or cancelled in one of the ways there are.
    async fn turn(&self, agent: &agentwire_acp_client::AgentHandle, session: &SessionId, name: String) {
        self.seen.lock().cancelled.remove(session);
        let prompt = agent.prompt(PromptRequest::new(session, name.clone()));
        let cancel = async || {
            self.seen.lock().cancelled.insert(session.clone());
            agent.cancel(CancelNotification::new(session)).await.unwrap();
        };
        let (way, moment) = (self.dice.below(5), self.dice.moment());
        let outcome = match way {
            0 => prompt.await,
            // Right behind the prompt.
            1 => futures::join!(prompt, cancel()).0,
            2 => {
                let cancel = async {
                    sleep(moment).await;
                    cancel().await;
                };
                futures::join!(prompt, cancel).0
            }
            3 => {
                let left = select(prompt, Box::pin(sleep(moment))).await;
                match left {
                    Either::Left((outcome, _)) => outcome,
                    Either::Right(((), prompt)) => {
                        self.seen.lock().cancelled.insert(session.clone());
                        return drop(prompt);
                    }
                }
            }
            _ => prompt.timeout(moment).await,
        };
        match outcome {
            Ok(answer) => self.check(&name, way, answer.stop_reason),
            Err(CallError::TimedOut { .. }) if way == 4 => {}
            Err(error) => self.fault(format!("{name}: {error}")),
        }
    }

    fn check(&self, name: &str, way: u64, stop: StopReason) {
        let mut seen = self.seen.lock();
        let cancelled = stop == StopReason::Cancelled;
        *seen.stops.entry(if cancelled { "cancelled" } else { "ended" }).or_default() += 1;
        let heard = seen.heard.get(name).cloned().unwrap_or_default();
        let Some(&(said, was_cancelled)) = seen.ended.get(name) else {
            return seen.faults.push(format!("{name}: {stop} before its end"));
        };
        if !heard.iter().copied().eq(0..said) {
            seen.faults.push(format!("{name}: said {said}, heard {heard:?} when it returned"));
        }
        if cancelled != was_cancelled {
            seen.faults.push(format!("{name}: cancelled {was_cancelled}, and ended with {stop}"));
        }
        if cancelled && !matches!(way, 1 | 2) {
            seen.faults.push(format!("{name}: nobody cancelled it"));
        }
    }
}

/// Counts the answers to each request of one side.
#[derive(Default)]
pub(crate) struct Ledger(BTreeMap<String, u64>);

impl Ledger {
    pub(crate) fn note(&mut self, direction: Direction, packet: &Packet) {
        let Packet::Frame { frame: Frame::Single(message), .. } = packet else { return };
        let (by_us, id): (bool, &RequestId) = match message {
            Message::Request(request) => (direction == Direction::Out, &request.id),
            Message::Response(response) => (direction == Direction::In, &response.id),
            Message::Notification(_) => return,
        };
        let answers = self.0.entry(format!("{} {id}", if by_us { "ours" } else { "theirs" })).or_default();
        *answers += u64::from(matches!(message, Message::Response(_)));
    }

    /// The requests that were not answered once.
    pub(crate) fn wrong(&self) -> Vec<(&String, &u64)> {
        self.0.iter().filter(|(_, answers)| **answers != 1).collect()
    }
}

/// Gives how many turns ended how.
async fn play(seed: u64) -> BTreeMap<&'static str, u64> {
    let side = Side { seen: Arc::default(), dice: Arc::new(Dice::new(seed)) };
    let ledger = std::cell::RefCell::new(Ledger::default());
    let (near, far) = duplex(side.dice.below(4) as usize);
    let far = tap(far, |direction, packet| ledger.borrow_mut().note(direction, packet));
    let near = checked(near, Conversation::acp(), schema_tests::Side::Server);
    let far = checked(far, Conversation::acp(), schema_tests::Side::Client);
    let main = async |agent: agentwire_acp_client::AgentHandle| {
        let fs = FileSystemCapabilities::new().read_text_file(true);
        let capabilities = ClientCapabilities::new().fs(fs).terminal(true);
        agent.initialize(greeting().client_capabilities(capabilities)).await?;
        let sessions = (0..SESSIONS).map(async |_| {
            let session = agent.new_session(NewSessionRequest::new("/repo")).await.unwrap().session_id;
            for turn in 0..TURNS {
                side.turn(&agent, &session, format!("{session}.{turn}")).await;
            }
        });
        join_all(sessions).await;
        // Turns that no caller waits for end, too.
        sleep(Duration::from_secs(60)).await;
        Ok(())
    };
    let both = async { futures::join!(serve(side.clone(), near), connect(side.clone(), far, main)) };
    let ended = tokio::time::timeout(Duration::from_secs(3600), both).await;
    let (served, result): (_, Result<(), ConnectionError>) = ended.expect("nothing hangs");
    served.unwrap();
    result.unwrap();
    let ledger = ledger.into_inner();
    let wrong = ledger.wrong();
    let seen = std::mem::take(&mut *side.seen.lock());
    assert!(seen.faults.is_empty() && wrong.is_empty(), "seed {seed}: {:#?} {wrong:#?}", seen.faults);
    seen.stops
}

/// Every prompt is answered exactly once, with `cancelled` where it was; all of a turn's updates are handled in order
/// before its prompt returns; no person is asked for permission once the turn is cancelled.
#[test]
fn prompts_that_are_cancelled_at_random_moments() {
    let mut stops = BTreeMap::new();
    for seed in 1..=SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        for (stop, turns) in runtime.unwrap().block_on(play(seed)) {
            *stops.entry(stop).or_insert(0) += turns;
        }
    }
    // Or else the dice were loaded.
    for stop in ["ended", "cancelled", "not permitted"] {
        assert!(stops[stop] > SEEDS, "{stops:?}");
    }
}
