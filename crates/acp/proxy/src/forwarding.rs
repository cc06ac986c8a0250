//! The loop that forwards messages between the two ports of a relay through its proxy.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};
use agentwire_peer::runtime::{CallFailure, Event, Input, Port, Timer, notify_raw_now};
use agentwire_peer::{CallId, Closed, Config, Dialect};
use agentwire_transport::{Transport, TransportError};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::deadline::HopClosing;
use crate::envelope::{CancelParams, map_scope};
use crate::error::{ProxyError, Stuck};
use crate::next::Next;
use crate::passing::PassingRequests;
use crate::peers::{Peers, RelayState};
use crate::proxy::Proxy;
use crate::side::{Direction, RelaySide, RequestKey, Side, SinkState};

/// The other side is read after this many messages of one side.
const MESSAGES_AT_ONCE: usize = 32;

/// Other futures of the task run after this many rounds.
const ROUNDS_AT_ONCE: usize = 16;

type Answer = (RequestKey, Result<RawJson, ErrorObject>);

/// The two ports of a relay, and its proxy.
pub(crate) struct Relay<'a, P, C, A, S, F> {
    pub(crate) config: &'a Config,
    /// How this hop closes, and the deadline that the chain shares.
    pub(crate) closing: HopClosing,
    proxy: &'a P,
    pub(crate) peers: Peers,
    /// Calls the proxy's hook for a request.
    start: S,
    pub(crate) hooks: FuturesUnordered<Hook<F>>,
    pub(crate) client: RelaySide<C>,
    pub(crate) agent: RelaySide<A>,
    pub(crate) timer: Timer,
}

/// A request that a hook of the proxy handles.
pub(crate) struct Hook<F> {
    pub(crate) key: RequestKey,
    outcome: Pin<Box<F>>,
}

impl<F: Future<Output = Result<RawJson, ErrorObject>>> Future for Hook<F> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let key = self.key;
        self.outcome.as_mut().poll(cx).map(|outcome| (key, outcome))
    }
}

/// Evaluates an expression with one side of a relay or the other, which are of two types.
macro_rules! with_side {
    ($relay:expr, $side:expr, $it:ident => $what:expr) => {
        match $side {
            Side::Client => {
                let $it = &mut $relay.client;
                $what
            }
            Side::Agent => {
                let $it = &mut $relay.agent;
                $what
            }
        }
    };
}
pub(crate) use with_side;

impl<'a, P, C, A, S, F> Relay<'a, P, C, A, S, F>
where
    P: Proxy,
    C: Transport,
    A: Transport,
    S: Fn(Direction, Request, Next) -> F,
    F: Future<Output = Result<RawJson, ErrorObject>>,
{
    pub(crate) fn new(
        proxy: &'a P,
        start: S,
        client: Port<C>,
        agent: Port<A>,
        config: &'a Config,
        closing: HopClosing,
    ) -> Self {
        let shared = RelayState {
            client: client.peer().clone(),
            agent: agent.peer().clone(),
            passing: PassingRequests::default(),
        };
        Self {
            config,
            closing,
            proxy,
            peers: Peers { shared: Arc::new(shared) },
            start,
            hooks: FuturesUnordered::new(),
            client: RelaySide::new(client),
            agent: RelaySide::new(agent),
            timer: Timer::default(),
        }
    }

    /// Runs until there is nothing to do. It is ready when both sides are closed.
    ///
    /// Calls have no time-out here, so the ports have no deadlines.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ProxyError>> {
        self.client.port.begin_poll();
        self.agent.port.begin_poll();
        self.closing.register(cx.waker());
        for _ in 0..ROUNDS_AT_ONCE {
            self.poll_hooks(cx);
            for side in Side::BOTH {
                self.poll_read(cx, side);
            }
            for side in Side::BOTH {
                self.poll_write(cx, side);
            }
            self.open_gates();
            for side in Side::BOTH {
                self.poll_end(cx, side);
            }
            if self.client.sink == SinkState::Closed && self.agent.sink == SinkState::Closed {
                return Poll::Ready(self.result());
            }
            self.poll_timer(cx);
            if self.client.port.prepare_wait(cx) && self.agent.port.prepare_wait(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn result(&mut self) -> Result<(), ProxyError> {
        match (self.agent.take_fault(), self.client.take_fault()) {
            (Some(error), _) => Err(ProxyError::Agent(error)),
            (None, Some(error)) => Err(ProxyError::Client(error)),
            (None, None) => Ok(()),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.client.port.clock().now()
    }

    pub(crate) fn passing(&self) -> &PassingRequests {
        &self.peers.shared.passing
    }

    /// Demands another round before the relay waits.
    pub(crate) fn request_round(&mut self) {
        self.client.port.request_round();
    }

    fn poll_hooks(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some((key, outcome))) = self.hooks.poll_next_unpin(cx) {
            self.passing().remove(key);
            with_side!(self, key.from, side => side.port.answer(key.incoming, outcome));
        }
    }

    /// Reads from one side while the other has room.
    fn poll_read(&mut self, cx: &mut Context<'_>, from: Side) {
        if !with_side!(self, from, side => side.port.begin_read()) {
            return;
        }
        let now = self.now();
        for _ in 0..MESSAGES_AT_ONCE {
            let gate = with_side!(self, from.other(), side => side.has_room(now));
            match with_side!(self, from, side => side.poll_read(cx, gate)) {
                Poll::Pending => return,
                Poll::Ready(Input::Packet { event, .. }) => self.deliver(cx, from, event),
                Poll::Ready(Input::End(error)) => return self.end(cx, from, error),
                Poll::Ready(_) => {}
            }
        }
        self.request_round();
    }

    /// Starts the chain's deadline, unless it runs already. Returns the time until which running work may end.
    fn begin_closing(&self) -> Instant {
        let now = self.now();
        self.closing.begin(now);
        self.closing.within(now, self.config.drain)
    }

    /// Ends reading from one side.
    pub(crate) fn end(&mut self, cx: &mut Context<'_>, from: Side, error: Option<TransportError>) {
        let drained = self.begin_closing();
        let event = with_side!(self, from, side => {
            side.other_closes_by = Some(drained);
            side.report(error);
            side.port.close_read(Closed::default())
        });
        self.request_round();
        self.deliver(cx, from, event);
    }

    /// Passes on an event of one side, and those after it.
    fn deliver(&mut self, cx: &mut Context<'_>, from: Side, mut event: Option<Event>) {
        while let Some(next) = event {
            match next {
                Event::Request { incoming, request, .. } => {
                    self.start_hook(cx, RequestKey { from, incoming }, request)
                }
                Event::Notification(notification) => self.pass_notification(from, notification),
                Event::CallEnded { call, outcome } => self.settle(cx, from, call, outcome),
                Event::Cancelled(incoming) => self.pass_cancel(RequestKey { from, incoming }),
                // A late answer, or an error response that only the other side could interpret.
                _ => {}
            }
            event = with_side!(self, from, side => side.port.next_event());
        }
    }

    fn start_hook(&mut self, cx: &mut Context<'_>, key: RequestKey, mut request: Request) {
        self.passing().insert(key);
        if key.from == Side::Agent {
            map_scope(&mut request, |id| {
                let at_client = self.passing().find_at_agent(id)?;
                self.client.port.request_id(at_client.incoming)
            });
        }
        let next = Next { peers: self.peers.clone(), key };
        let outcome = Box::pin((self.start)(key.from.outbound(), request, next));
        let mut hook = Hook { key, outcome };
        // The first part of the hook must not wait for other hooks that are ready.
        match Pin::new(&mut hook).poll(cx) {
            Poll::Ready((key, outcome)) => {
                self.passing().remove(key);
                with_side!(self, key.from, side => side.port.answer(key.incoming, outcome));
            }
            Poll::Pending => {
                self.hooks.push(hook);
                self.poll_hooks(cx);
            }
        }
    }

    fn pass_notification(&mut self, from: Side, notification: Notification) {
        let (proxy, peers) = (self.proxy, &self.peers);
        let hook = || proxy.notification(notification, from.outbound(), peers);
        // A notification whose hook panics is not passed on: the proxy may have meant to drop it.
        if let Ok(Some(Notification { method, params, .. })) = catch_unwind(AssertUnwindSafe(hook)) {
            // Fails once nothing can be sent there any more.
            let _closed = notify_raw_now(self.peers.shared.peer(from.other()), method, params);
        }
    }

    /// Cancels a request, and the calls that were made for it, each under the id that it has on its hop. They are awaited
    /// all the same, because they are answered all the same.
    fn pass_cancel(&mut self, key: RequestKey) {
        let calls = self.passing().cancel(key);
        for call in calls {
            let params = CancelParams { request_id: call.request_id() };
            let params = RawJson::encode(&params).expect("an id always has a JSON form");
            let peer = self.peers.shared.peer(key.from.other());
            // Fails once nothing can be sent there any more.
            let _closed = notify_raw_now(peer, Dialect::ACP.cancel_method, Some(params));
        }
        with_side!(self, key.from, side => side.port.cancel(key.incoming));
    }

    /// Completes a call, and lets its caller pass the outcome on before the next message. So an answer keeps its place
    /// among notifications.
    fn settle(
        &mut self,
        cx: &mut Context<'_>,
        from: Side,
        call: CallId,
        outcome: Result<RawJson, CallFailure>,
    ) {
        with_side!(self, from, side => side.port.settle(cx, call, outcome));
        // The caller may be reached only after several polls, if other hooks wake themselves.
        for _ in 0..=self.hooks.len() {
            self.poll_hooks(cx);
            if !with_side!(self, from, side => side.port.is_awaited(call)) {
                return;
            }
        }
    }

    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, to: Side) {
        let written = with_side!(self, to, side => {
            drop(side.port.begin_write());
            side.port.poll_write(cx)
        });
        let now = self.now();
        let stuck = with_side!(self, to, side => {
            side.note_taken(now);
            let is_full = side.port.is_writing() && !side.port.has_backlog_room();
            is_full && side.stuck_deadline(self.config.stall).is_some_and(|at| at <= now)
        });
        let error = match written {
            Err(error) => error,
            Ok(()) if stuck => {
                with_side!(self, to, side => side.port.discard_output());
                let bytes = self.config.connection.backlog_limit;
                TransportError::other(Stuck { time: self.config.stall, bytes })
            }
            Ok(()) => return,
        };
        let until = self.begin_closing();
        with_side!(self, to, side => {
            side.failed = Some((until, Some(error)));
            side.port.close_write(Closed::default());
        });
    }

    /// Demands another round if one side was not read because the other had no room, and now has.
    fn open_gates(&mut self) {
        let now = self.now();
        if self.client.port.is_gated() && self.agent.has_room(now)
            || self.agent.port.is_gated() && self.client.has_room(now)
        {
            self.request_round();
        }
    }
}
