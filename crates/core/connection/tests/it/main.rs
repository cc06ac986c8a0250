//! Tests of the state machine on a virtual clock, with every order of messages and deadlines.

mod batch;
mod bounds;
mod calls;
mod cancellation;
mod pair;
mod pending_requests;
mod progress;
mod property;
mod responses;

use std::time::{Duration, Instant};

use agentwire_connection::{
    CallFailure, CallId, CallOptions, Config, Connection, Dialect, Event, IncomingId, Transmit,
};
use agentwire_jsonrpc::{ErrorObject, Frame, RawJson};

const SECOND: Duration = Duration::from_secs(1);

/// One connection, and a clock that the test advances. The test is its peer.
struct One {
    connection: Connection,
    start: Instant,
    now: Instant,
}

impl One {
    fn new(config: Config) -> Self {
        let start = Instant::now();
        Self { connection: Connection::new(config), start, now: start }
    }

    fn acp() -> Self {
        Self::new(Config::new(Dialect::ACP))
    }

    fn mcp() -> Self {
        Self::new(Config::new(Dialect::MCP))
    }

    /// The one revision of MCP that has batches.
    fn mcp_with_batches() -> Self {
        let mut one = Self::mcp();
        one.connection.set_batches(true);
        one
    }

    fn receive(&mut self, text: &str) {
        self.connection.handle_frame(self.now, Frame::parse(text.into()));
    }

    /// Receives a request without params.
    fn receive_request(&mut self, id: &str) {
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ask"}}"#));
    }

    fn receive_result(&mut self, id: &str, result: &str) {
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    /// Takes the queued frames, as text.
    fn take_sent(&mut self) -> Vec<String> {
        self.transmits().iter().map(text).collect()
    }

    fn transmits(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.connection.poll_transmit()).collect()
    }

    /// Takes the events.
    fn take_events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    /// Takes the events, which must all be requests.
    fn requests(&mut self) -> Vec<IncomingId> {
        let incoming = |event| match event {
            Event::Request { incoming, .. } => incoming,
            other => panic!("no request: {other:?}"),
        };
        self.take_events().into_iter().map(incoming).collect()
    }

    fn call_with(&mut self, method: &'static str, options: CallOptions) -> CallId {
        let call = self.connection.reserve_call();
        self.connection.call(self.now, call, method, None, options, None);
        call
    }

    /// Makes a call and sends its request.
    fn call(&mut self, options: CallOptions) -> CallId {
        let call = self.call_with("ask", options);
        assert_eq!(
            self.take_sent(),
            [format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ask"}}"#, call.request_id())]
        );
        call
    }

    fn answer(&mut self, incoming: IncomingId, result: &str) {
        self.connection.answer(incoming, Ok(json(result)));
    }

    fn notify(&mut self, method: &'static str) {
        self.connection.notify(method, None, None);
    }

    /// Moves the clock to a time since the start, and handles the time-out if its deadline has passed.
    fn at(&mut self, since_start: Duration) {
        self.now = self.start + since_start;
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= self.now) {
            self.connection.handle_timeout(self.now);
        }
    }

    /// Moves the clock without handling a time-out, as if the timer were late.
    fn at_before_the_timer(&mut self, since_start: Duration) {
        self.now = self.start + since_start;
    }

    #[track_caller]
    fn assert_idle(&self) {
        assert!(self.connection.is_idle(), "{:?}", self.connection);
    }
}

fn text(transmit: &Transmit) -> String {
    let mut out = Vec::new();
    transmit.frame.write(&mut out);
    String::from_utf8(out).unwrap()
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text.into()).unwrap()
}

fn ok(call: CallId, result: &str) -> Event {
    Event::CallEnded { call, outcome: Ok(json(result)) }
}

fn failed(call: CallId, failure: CallFailure) -> Event {
    Event::CallEnded { call, outcome: Err(failure) }
}

fn timed_out(call: CallId, waited: Duration) -> Event {
    failed(call, CallFailure::TimedOut(waited))
}

fn timeout(seconds: u32) -> CallOptions {
    CallOptions::new().timeout(seconds * SECOND)
}

/// The only frame that was sent, which must be an error response.
#[track_caller]
fn refusal(sent: &[String]) -> (String, ErrorObject) {
    let [text] = sent else { panic!("one refusal, not {sent:?}") };
    let Frame::Single(agentwire_jsonrpc::Message::Response(response)) = Frame::parse(text.as_str().into())
    else {
        panic!("no response: {text}")
    };
    (response.id.to_string(), response.outcome.expect_err("an error"))
}
