//! Turns of version 2 that are cancelled, dropped and closed at random moments, in sessions in which other things happen
//! too. A seed decides everything, so a failure can be played again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::v2 as agent;
use agentwire_acp_client::v2::{AgentHandle, Client, Context, TurnEnd, TurnEvent, connect};
use agentwire_acp_client::{CallError, ConnectionError, Error};
use agentwire_acp_schema::v2::*;
use agentwire_schema_tests::{self as schema_tests, Conversation, checked};
use agentwire_sync::Mutex;
use agentwire_transport::{duplex, tap};
use futures::future::{Either, join_all, select};
use tokio::time::sleep;

use super::recorder::greeting;
use crate::races::{Dice, Ledger};

const SEEDS: u64 = 300;
const SESSIONS: u64 = 3;
const TURNS: u64 = 6;

/// The records of both sides, by the text of the prompt, which is different for every turn.
#[derive(Default)]
struct Seen {
    /// How much the agent had said when its work on a prompt ended, whichever way.
    ended: BTreeMap<String, usize>,
    heard: BTreeMap<String, Vec<usize>>,
    /// Sessions in which something was cancelled.
    cancelled: BTreeSet<SessionId>,
    faults: Vec<String>,
    /// How many turns ended how.
    stops: BTreeMap<&'static str, u64>,
}

#[derive(Clone)]
struct Side {
    seen: Arc<Mutex<Seen>>,
    dice: Arc<Dice>,
}

impl agent::Agent for Side {
    async fn initialize(
        &self,
        request: InitializeRequest,
        _: agent::Context,
    ) -> Result<InitializeResponse, Error> {
        let can = AgentCapabilities::new().session(SessionCapabilities::new());
        let ourselves = Implementation::new("random", "1");
        Ok(InitializeResponse::new(request.protocol_version, ourselves).capabilities(can))
    }

    async fn new_session(
        &self,
        _: NewSessionRequest,
        _: agent::Context,
    ) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new(format!("session-{}", self.dice.below(u64::MAX))))
    }

    async fn resume_session(
        &self,
        _: ResumeSessionRequest,
        _: agent::Context,
    ) -> Result<ResumeSessionResponse, Error> {
        Ok(ResumeSessionResponse::new())
    }

    /// Waits, or does something else first; takes the message in, or does not; works, and looks whether it is cancelled,
    /// or does not.
    async fn prompt(&self, request: PromptRequest, turn: agent::Turn) -> Result<IdleStopReason, Error> {
        let ContentBlock::Text(text) = &request.prompt[0] else { panic!("no text") };
        let name = &*text.text;
        self.before(&turn).await?;
        turn.accept(name, &request.prompt).await?;
        let mut said = 0;
        let outcome = self.work(&turn, name, &mut said).await;
        self.seen.lock().ended.insert(name.to_owned(), said);
        outcome.map(|()| IdleStopReason::EndTurn)
    }
}

impl Side {
    async fn before(&self, turn: &agent::Turn) -> Result<(), Error> {
        let (client, session) = (turn.client().detached(), turn.session_id());
        match self.dice.below(6) {
            0 => return Err(Error::invalid_params("not that")),
            1 => sleep(self.dice.moment()).await,
            // Work that no prompt has asked for, and that is over before the message is taken in.
            2 => {
                let work = client.begin_work(session)?;
                client.session_update(UpdateSessionNotification::message(session, "b", "/other")).await?;
                sleep(self.dice.moment()).await;
                drop(work);
            }
            // Work in the background sends a message.
            3 => client.session_update(UpdateSessionNotification::message(session, "b", "/other")).await?,
            _ => {}
        }
        Ok(())
    }

    async fn work(&self, turn: &agent::Turn, name: &str, said: &mut usize) -> Result<(), Error> {
        let looks = self.dice.below(3) > 0;
        for _ in 0..self.dice.below(8) {
            if looks && turn.is_cancelled() {
                break;
            }
            match self.dice.below(3) {
                0 => {
                    let option = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
                    let question = RequestPermissionRequest::new(turn.session_id(), name, [option]);
                    turn.client().request_permission(question).await?;
                }
                1 => sleep(self.dice.moment()).await,
                _ => {
                    for _ in 0..self.dice.below(6) {
                        let text = format!("{name}/{said}");
                        let update = UpdateSessionNotification::message(turn.session_id(), name, text);
                        turn.client().session_update(update).await?;
                        *said += 1;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Client for Side {
    fn session_update(&self, notification: UpdateSessionNotification) {
        let SessionUpdate::AgentMessageChunk(chunk) = notification.update else { return };
        let ContentBlock::Text(text) = chunk.content else { panic!("no text") };
        if let Some((name, Ok(number))) = text.text.rsplit_once('/').map(|(name, rest)| (name, rest.parse()))
        {
            self.seen.lock().heard.entry(name.into()).or_default().push(number);
        }
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        sleep(self.dice.moment()).await;
        Ok(request.allow())
    }
}

impl Side {
    /// One turn, left alone or ended in one of the ways there are.
    async fn turn(&self, agent: &AgentHandle, session: &SessionId, name: String) {
        let prompt = agent.prompt(PromptRequest::new(session, name.clone()));
        let (way, moment) = (self.dice.below(8), self.dice.moment());
        if way > 1 {
            self.seen.lock().cancelled.insert(session.clone());
        }
        let outcome = match way {
            0 => prompt.await,
            1 | 2 => {
                let events = if way == 1 { u64::MAX } else { self.dice.below(8) };
                match self.read(prompt, events).await {
                    Some(outcome) => outcome,
                    None => return,
                }
            }
            // Right behind the prompt, or later.
            3 | 4 => {
                let cancel = async {
                    if way == 4 {
                        sleep(moment).await;
                    }
                    agent.cancel(CancelSessionNotification::new(session)).await.unwrap();
                };
                futures::join!(prompt, cancel).0
            }
            5 => match select(prompt, Box::pin(sleep(moment))).await {
                Either::Left((outcome, _)) => outcome,
                Either::Right(((), prompt)) => return drop(prompt),
            },
            6 => {
                let close = async {
                    sleep(moment).await;
                    agent.close_session(CloseSessionRequest::new(session)).await.unwrap();
                    agent.resume_session(ResumeSessionRequest::new(session, "/repo")).await.unwrap();
                };
                futures::join!(prompt, close).0
            }
            _ => prompt.timeout(moment).await,
        };
        self.check(session, &name, outcome);
    }

    /// Reads so many events. None if the turn had not ended by then.
    async fn read(
        &self,
        prompt: agentwire_acp_client::v2::PromptCall,
        events: u64,
    ) -> Option<Result<TurnEnd, CallError>> {
        let mut turn = prompt.updates();
        for _ in 0..events {
            match turn.next().await.expect("the last is the end") {
                Ok(TurnEvent::Update(_)) => {}
                Ok(TurnEvent::Stopped(stopped)) => {
                    assert!(turn.next().await.is_none());
                    return Some(Ok(stopped));
                }
                Ok(other) => panic!("{other:?}"),
                Err(error) => return Some(Err(error)),
            }
            // Sometimes it is slow.
            if self.dice.below(4) == 0 {
                sleep(self.dice.moment()).await;
            }
        }
        None
    }

    fn check(&self, session: &SessionId, name: &str, outcome: Result<TurnEnd, CallError>) {
        let mut seen = self.seen.lock();
        let stop = match &outcome {
            Ok(stopped) if stopped.stop_reason() == Some(&IdleStopReason::Cancelled) => "cancelled",
            Ok(_) => "ended",
            Err(CallError::Refused { .. }) => "refused",
            Err(CallError::TimedOut { .. }) => "late",
            Err(error) => return seen.faults.push(format!("{name}: {error}")),
        };
        *seen.stops.entry(stop).or_default() += 1;
        if stop == "cancelled" && !seen.cancelled.contains(session) {
            seen.faults.push(format!("{name}: nobody cancelled it"));
        }
        if outcome.is_err() {
            return;
        }
        let heard = seen.heard.get(name).cloned().unwrap_or_default();
        match seen.ended.get(name) {
            None => seen.faults.push(format!("{name}: {stop} before its end")),
            Some(&said) if !heard.iter().copied().eq(0..said) => {
                seen.faults.push(format!("{name}: said {said}, heard {heard:?} when it returned"));
            }
            Some(_) => {}
        }
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
    let main = async |agent: AgentHandle| {
        agent.initialize(greeting()).await?;
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
    let both = async { futures::join!(agent::serve(side.clone(), near), connect(side.clone(), far, main)) };
    let ended = tokio::time::timeout(Duration::from_secs(3600), both).await;
    let (served, result): (_, Result<(), ConnectionError>) =
        ended.unwrap_or_else(|_| panic!("seed {seed} hangs: {:#?}", side.seen.lock().faults));
    served.unwrap();
    result.unwrap();
    let ledger = ledger.into_inner();
    let seen = std::mem::take(&mut *side.seen.lock());
    let wrong = ledger.wrong();
    assert!(seen.faults.is_empty() && wrong.is_empty(), "seed {seed}: {:#?} {wrong:#?}", seen.faults);
    seen.stops
}

/// Every turn ends, and none before the agent's work on it; all of its messages have been handled then, in order. Every
/// request is answered once.
#[test]
fn turns_that_end_at_random_moments() {
    let mut stops = BTreeMap::new();
    for seed in 1..=SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        for (stop, turns) in runtime.unwrap().block_on(play(seed)) {
            *stops.entry(stop).or_insert(0) += turns;
        }
    }
    // Or else the dice were loaded.
    for stop in ["ended", "cancelled", "refused", "late"] {
        assert!(stops[stop] > SEEDS, "{stops:?}");
    }
}
