//! Many sessions on one connection, each of which waits for tools, questions and terminals at once, with cancels at random
//! moments.
//!
//! The clock is virtual, so the order of things follows from the seed alone, and a hang shows as time without end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_acp_sessions::hub::schema::CallToolResult;
use agentwire_acp_sessions::schema::{
    CreateTerminalRequest, PermissionOption, PermissionOptionKind, StopReason, ToolCallUpdate,
};
use agentwire_acp_sessions::{BoxError, PermissionPolicy, Turn, TurnError, agent};
use agentwire_jsonrpc::{Frame, Message, Notification, RawJson, Request, RequestId, Response};
use agentwire_mcp_server::{Context, Server};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::{SinkExt, StreamExt};
use tokio::time::Instant;

use crate::tools::within;

/// Each with a prompt in every session.
const RUNS: u64 = 50;
const LONG_RUNS: u64 = 1000;
const SESSIONS: usize = 64;
/// Runs on one connection, one after the other: sessions are opened for the first, and what was closed again.
const RUNS_A_CONNECTION: u64 = 25;
const THREADS: u64 = 2;

#[test]
fn pr_10_12_20_term_04_every_prompt_is_answered_once_and_cancelled_where_it_was_cancelled() {
    storm(RUNS);
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes: cargo xtask ci long"]
    fn a_long_storm() {
        storm(LONG_RUNS);
    }
}

fn storm(runs: u64) {
    let totals: Vec<Totals> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || share(thread, runs))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run went wrong")).collect()
    });
    let sum = |of: fn(&Totals) -> usize| totals.iter().map(of).sum::<usize>();
    assert_eq!(sum(|totals| totals.prompts), runs as usize * SESSIONS);
    // The moments were such that every outcome came about often.
    for (what, count) in [
        ("cancelled while it waited", sum(|totals| totals.cancelled)),
        ("ended by itself", sum(|totals| totals.ended)),
        ("terminals", sum(|totals| totals.terminals)),
        ("tools cancelled at their server", sum(|totals| totals.tools_cancelled)),
        ("sessions closed", sum(|totals| totals.closed)),
    ] {
        assert!(count as u64 * 2 > runs, "{what}: {count} times");
    }
}

/// The counts of all runs of a thread.
#[derive(Debug, Default)]
struct Totals {
    prompts: usize,
    cancelled: usize,
    ended: usize,
    terminals: usize,
    tools_cancelled: usize,
    closed: usize,
}

fn share(thread: u64, runs: u64) -> Totals {
    let mut totals = Totals::default();
    let connections = runs / RUNS_A_CONNECTION;
    for connection in (0..connections).filter(|connection| connection % THREADS == thread) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime needs nothing").block_on(connect(connection, &mut totals));
    }
    totals
}

/// One connection, and the runs on it.
async fn connect(connection: u64, totals: &mut Totals) {
    let sleeping = Sleeping::default();
    let agent =
        agent(everything).mcp_server(within("sleep", sleeping.server())).permissions(PermissionPolicy::Allow);
    let (near, far) = duplex(256);
    let client = async {
        let mut client = Client::new(far);
        client.say("initialize", r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#).await;
        client.answer().await;
        let seats = (0..SESSIONS).map(|_| Seat::default()).collect();
        let mut storm = Storm { client, random: Random(0), seats, due: BinaryHeap::new(), events: 0 };
        for run in 0..RUNS_A_CONNECTION {
            let seed = connection * RUNS_A_CONNECTION + run;
            storm.random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            storm.open().await;
            let ran = storm.run(totals).await;
            ran.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            let (begun, over) = sleeping.counts();
            assert_eq!(begun, over, "seed {seed}: a tool still runs");
        }
        totals.tools_cancelled += sleeping.cancelled.load(Ordering::Relaxed);
    };
    let (served, ()) = futures::join!(agent.serve(near), client);
    served.expect("the client left in good order");
}

/// Waits for the person, for a terminal and for a tool at once.
async fn everything(turn: Turn) -> Result<StopReason, BoxError> {
    let yes = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
    let permission = turn.request_permission(ToolCallUpdate::new("asked"), [yes]);
    let terminal = async {
        let terminal = turn.terminal(CreateTerminalRequest::new(turn.session_id(), "ls")).await?;
        terminal.wait().await?;
        terminal.release().await
    };
    let text = turn.text();
    let (deaf, millis) = (text.ends_with('!'), text.trim_end_matches('!').parse::<u64>().unwrap_or_default());
    let tool = turn.call_tool("sleep", serde_json::json!({ "millis": millis })).into_future();
    let done: Result<(_, _, CallToolResult), TurnError> = futures::try_join!(permission, terminal, tool);
    if deaf && turn.is_cancelled() {
        std::future::pending::<()>().await;
    }
    done?;
    turn.say("all of it").await?;
    Ok(StopReason::EndTurn)
}

/// A server whose one tool sleeps, and how often it was called, ended and cancelled.
#[derive(Clone, Default)]
struct Sleeping {
    begun: Arc<AtomicUsize>,
    over: Arc<AtomicUsize>,
    cancelled: Arc<AtomicUsize>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sleep {
    millis: u64,
}

struct Call(Sleeping, bool);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.over.fetch_add(1, Ordering::Relaxed);
        self.0.cancelled.fetch_add(usize::from(!self.1), Ordering::Relaxed);
    }
}

impl Sleeping {
    fn server(&self) -> Server {
        let sleeping = self.clone();
        Server::new("sleep", "1").tool("sleep", "Sleeps", move |Sleep { millis }: Sleep, _: Context| {
            sleeping.begun.fetch_add(1, Ordering::Relaxed);
            let call = Call(sleeping.clone(), false);
            async move {
                let mut call = call;
                tokio::time::sleep(Duration::from_millis(millis)).await;
                call.1 = true;
                "slept"
            }
        })
    }

    fn counts(&self) -> (usize, usize) {
        (self.begun.load(Ordering::Relaxed), self.over.load(Ordering::Relaxed))
    }
}

/// xorshift64*: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

/// The client's end of the connection. No text is written or read, which is most of the time that it would take.
struct Client {
    wire: Duplex,
    next_id: u64,
}

impl Client {
    fn new(wire: Duplex) -> Self {
        Self { wire, next_id: 0 }
    }

    async fn send(&mut self, message: impl Into<Message>) {
        self.wire.send(Packet::new(message.into())).await.expect("the agent listens");
    }

    async fn say(&mut self, method: &'static str, params: &str) -> u64 {
        self.next_id += 1;
        self.send(Request::new(self.next_id, method, Some(raw(params)))).await;
        self.next_id
    }

    async fn tell(&mut self, method: &'static str, params: &str) {
        self.send(Notification::new(method, Some(raw(params)))).await;
    }

    async fn next(&mut self) -> Message {
        match self.wire.next().await.expect("the agent is there").expect("memory does not fail") {
            Packet::Frame { frame: Frame::Single(message), .. } => message,
            packet => panic!("{packet:?}"),
        }
    }

    /// The next answer, which must be a result.
    async fn answer(&mut self) -> RawJson {
        loop {
            if let Message::Response(response) = self.next().await {
                return response.outcome.expect("it succeeds");
            }
        }
    }
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.into()).expect("JSON")
}

/// The value of a member that is a string, wherever it is.
fn member<'a>(json: &'a str, name: &str) -> &'a str {
    let start = json.find(name).unwrap_or_else(|| panic!("no {name} in {json}")) + name.len();
    json[start..].split('"').next().unwrap_or_default()
}

const SESSION_ID: &str = "\"sessionId\":\"";

/// A session, and its prompt of this run.
#[derive(Default)]
struct Seat {
    id: String,
    is_open: bool,
    prompt: u64,
    stopped: Option<String>,
    /// When its tool will have slept, at the earliest.
    slept: Option<Instant>,
    millis: u64,
    asked: Option<RequestId>,
    permitted: bool,
    /// Terminals that are out, and whether one came back whose end was waited for.
    terminals: usize,
    given_back: bool,
    end: Option<End>,
    /// Whether the turn could not have ended by itself when it was cancelled.
    must_be_cancelled: bool,
}

/// How a client ends a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Cancel,
    CancelRequest,
    Close,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    End(usize, End),
    Permit(usize),
    /// A terminal is made, has ended, was killed, was given back.
    Terminal(usize, &'static str, u64),
}

struct Storm {
    client: Client,
    random: Random,
    seats: Vec<Seat>,
    due: BinaryHeap<Reverse<(Instant, u64, Action)>>,
    events: u64,
}

impl Storm {
    /// Opens what is not open.
    async fn open(&mut self) {
        for seat in self.seats.iter_mut().filter(|seat| !seat.is_open) {
            seat.is_open = true;
            if seat.id.is_empty() {
                self.client.say("session/new", r#"{"cwd":"/repo","mcpServers":[]}"#).await;
                let new = self.client.answer().await;
                seat.id = member(new.as_str(), SESSION_ID).to_owned();
            } else {
                let params = format!(r#"{{"sessionId":"{}","cwd":"/repo","mcpServers":[]}}"#, seat.id);
                self.client.say("session/resume", &params).await;
                self.client.answer().await;
            }
        }
    }

    /// One prompt in each session, until all are answered and everything is at rest.
    async fn run(&mut self, totals: &mut Totals) -> Result<(), String> {
        let places: BTreeMap<String, usize> =
            self.seats.iter().enumerate().map(|(place, seat)| (seat.id.clone(), place)).collect();
        for place in 0..SESSIONS {
            self.begin(place).await;
        }
        loop {
            let next = self.due.peek().map(|Reverse((at, ..))| *at);
            let idle = Instant::now() + Duration::from_secs(60);
            tokio::select! {
                biased;
                message = self.client.next() => self.hear(message, &places)?,
                () = tokio::time::sleep_until(next.unwrap_or(idle)) => match self.due.pop() {
                    Some(Reverse((.., action))) => self.act(action).await,
                    None => break,
                },
            }
        }
        for (place, seat) in self.seats.iter().enumerate() {
            let stopped = seat.stopped.as_deref().ok_or(format!("prompt {place} was never answered"))?;
            let told = (seat.end.is_some(), seat.must_be_cancelled, stopped);
            match told {
                (true, _, "cancelled") => totals.cancelled += 1,
                (_, false, "end_turn") => totals.ended += 1,
                other => return Err(format!("prompt {place}: (told to end, in time, outcome) = {other:?}")),
            }
            if seat.terminals > 0 {
                return Err(format!("prompt {place} kept {} terminals", seat.terminals));
            }
            totals.prompts += 1;
            totals.terminals += usize::from(seat.given_back);
            totals.closed += usize::from(!seat.is_open);
        }
        Ok(())
    }

    async fn begin(&mut self, place: usize) {
        let millis = self.random.below(40);
        let deaf = if self.random.below(16) == 0 { "!" } else { "" };
        let text = format!("{millis}{deaf}");
        let seat = &mut self.seats[place];
        let params = format!(r#"{{"sessionId":"{}","prompt":[{{"type":"text","text":"{text}"}}]}}"#, seat.id);
        let prompt = self.client.say("session/prompt", &params).await;
        *seat = Seat { id: std::mem::take(&mut seat.id), is_open: true, prompt, millis, ..Seat::default() };
        if self.random.below(4) > 0 {
            let end = match self.random.below(16) {
                0 => End::Close,
                1 => End::CancelRequest,
                _ => End::Cancel,
            };
            self.plan(80, Action::End(place, end));
        }
    }

    /// Lets something happen at a random moment from now on.
    fn plan(&mut self, within: u64, action: Action) {
        let at = Instant::now() + Duration::from_millis(self.random.below(within));
        self.events += 1;
        self.due.push(Reverse((at, self.events, action)));
    }

    fn hear(&mut self, message: Message, places: &BTreeMap<String, usize>) -> Result<(), String> {
        match message {
            Message::Request(request) => {
                let params = request.params.ok_or("no params")?;
                let place = places[member(params.as_str(), SESSION_ID)];
                let seat = &mut self.seats[place];
                if seat.stopped.is_some() {
                    return Err(format!("{} after the turn", request.method));
                }
                let id = request.id.as_u64().ok_or("our ids are numbers")?;
                match &*request.method {
                    "session/request_permission" => {
                        seat.asked = Some(request.id);
                        self.plan(30, Action::Permit(place));
                    }
                    "terminal/create" => self.plan(10, Action::Terminal(place, "create", id)),
                    "terminal/wait_for_exit" => self.plan(20, Action::Terminal(place, "wait", id)),
                    "terminal/kill" => self.plan(5, Action::Terminal(place, "kill", id)),
                    "terminal/release" => {
                        seat.terminals = seat.terminals.checked_sub(1).ok_or("given back twice")?;
                        self.plan(5, Action::Terminal(place, "release", id));
                    }
                    other => return Err(other.to_owned()),
                }
            }
            Message::Notification(notification) if &*notification.method == "session/update" => {
                let params = notification.params.ok_or("no params")?;
                let seat = &mut self.seats[places[member(params.as_str(), SESSION_ID)]];
                if seat.stopped.is_some() {
                    return Err(format!("an update after the answer: {}", params.as_str()));
                }
                if params.as_str().contains("\"in_progress\"") {
                    seat.slept = Some(Instant::now() + Duration::from_millis(seat.millis));
                }
            }
            Message::Notification(_) => {}
            Message::Response(response) => {
                let id = response.id.as_u64().ok_or("our ids are numbers")?;
                if let Some(seat) = self.seats.iter_mut().find(|seat| seat.prompt == id) {
                    let outcome = response.outcome.map_err(|error| format!("a prompt failed: {error}"))?;
                    let reason = member(outcome.as_str(), "\"stopReason\":\"").to_owned();
                    if seat.stopped.replace(reason).is_some() {
                        return Err("a prompt was answered twice".into());
                    }
                } else {
                    response.outcome.map_err(|error| format!("something else failed: {error}"))?;
                }
            }
        }
        Ok(())
    }

    async fn act(&mut self, action: Action) {
        match action {
            Action::End(place, end) => self.end(place, end).await,
            Action::Permit(place) => {
                if let Some(id) = self.seats[place].asked.take() {
                    self.seats[place].permitted = true;
                    let yes = r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#;
                    self.client.send(Response::new(id, Ok(raw(yes)))).await;
                }
            }
            Action::Terminal(place, what, id) => {
                let seat = &mut self.seats[place];
                let answer = match what {
                    "create" => {
                        seat.terminals += 1;
                        r#"{"terminalId":"t"}"#
                    }
                    "release" => {
                        seat.given_back = true;
                        "{}"
                    }
                    "wait" => r#"{"exitCode":0}"#,
                    _ => "{}",
                };
                self.client.send(Response::new(id, Ok(raw(answer)))).await;
            }
        }
    }

    async fn end(&mut self, place: usize, end: End) {
        let seat = &mut self.seats[place];
        if seat.stopped.is_some() {
            return;
        }
        seat.end = Some(end);
        let slept = seat.slept.is_some_and(|slept| slept <= Instant::now());
        seat.must_be_cancelled = !(seat.permitted && seat.given_back && slept);
        let params = format!(r#"{{"sessionId":"{}"}}"#, seat.id);
        match end {
            End::Cancel => self.client.tell("session/cancel", &params).await,
            End::CancelRequest => {
                let params = format!(r#"{{"requestId":{}}}"#, seat.prompt);
                self.client.tell("$/cancel_request", &params).await;
            }
            End::Close => {
                seat.is_open = false;
                self.client.say("session/close", &params).await;
            }
        }
        // A client that cancels owes an answer to each open question.
        if let Some(id) = self.seats[place].asked.take()
            && end == End::Cancel
        {
            let answer = r#"{"outcome":{"outcome":"cancelled"}}"#;
            self.client.send(Response::new(id, Ok(raw(answer)))).await;
        }
    }
}
