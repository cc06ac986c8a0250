use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use agentwire_connection::{CallFailure, CallId, Event};
use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};
use agentwire_peer::Config;
use agentwire_transport::{Fault, Packet, Transport};
use futures::StreamExt;
use futures::stream::FuturesUnordered;

use crate::closing::Alarm;
use crate::deadline::Position;
use crate::ends::Ends;
use crate::envelope::map_scope;
use crate::error::Broken;
use crate::line::{Line, Sinking};
use crate::next::Next;
use crate::proxy::{Direction, Proxy};
use crate::shared::{Key, Shared, Side, State};

/// After so many messages of one side the other has its turn.
const MESSAGES_AT_ONCE: usize = 32;

/// After so many rounds others of the same task have their turn.
const ROUNDS_AT_ONCE: usize = 16;

type Answer = (Key, Result<RawJson, ErrorObject>);

/// What a relay does each time that it is polled.
pub(crate) struct Turn<'a, P, C, A, S, F> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) config: &'a Config,
    pub(crate) position: Position,
    pub(crate) proxy: &'a P,
    pub(crate) ends: Ends,
    pub(crate) start: S,
    pub(crate) hooks: FuturesUnordered<Hook<F>>,
    pub(crate) client: Line<C>,
    pub(crate) agent: Line<A>,
    /// Whether there is more to do in this turn.
    pub(crate) again: bool,
    pub(crate) alarm: Option<Alarm>,
}

/// A request on its way through a proxy.
pub(crate) struct Hook<F> {
    pub(crate) key: Key,
    outcome: Pin<Box<F>>,
}

impl<F: Future<Output = Result<RawJson, ErrorObject>>> Future for Hook<F> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let key = self.key;
        self.outcome.as_mut().poll(cx).map(|outcome| (key, outcome))
    }
}

/// Runs the same on the line of one side or the other, which are of two types.
macro_rules! line {
    ($turn:expr, $side:expr, $line:ident => $what:expr) => {
        match $side {
            Side::Client => {
                let $line = &mut $turn.client;
                $what
            }
            Side::Agent => {
                let $line = &mut $turn.agent;
                $what
            }
        }
    };
}
pub(crate) use line;

impl<'a, P, C, A, S, F> Turn<'a, P, C, A, S, F>
where
    P: Proxy,
    C: Transport,
    A: Transport,
    S: Fn(Direction, Request, Next) -> F,
    F: Future<Output = Result<RawJson, ErrorObject>>,
{
    pub(crate) fn new(
        shared: &'a Arc<Shared>,
        proxy: &'a P,
        start: S,
        client: C,
        agent: A,
        config: &'a Config,
        position: Position,
    ) -> Self {
        Self {
            shared,
            config,
            position,
            proxy,
            ends: Ends { shared: shared.clone() },
            start,
            hooks: FuturesUnordered::new(),
            client: Line::new(client),
            agent: Line::new(agent),
            again: false,
            alarm: None,
        }
    }

    /// Works until there is nothing to do. It is ready when both ends are closed.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        self.client.quiet = false;
        self.agent.quiet = false;
        self.position.register(cx.waker());
        for _ in 0..ROUNDS_AT_ONCE {
            self.again = false;
            self.poll_hooks(cx);
            for side in Side::BOTH {
                self.deliver(cx, side);
                self.poll_read(cx, side);
            }
            for side in Side::BOTH {
                self.poll_write(cx, side);
            }
            for side in Side::BOTH {
                self.poll_end(cx, side);
            }
            if self.client.sink == Sinking::Closed && self.agent.sink == Sinking::Closed {
                return Poll::Ready(self.ended());
            }
            self.poll_alarm(cx);
            if !self.again {
                // The one that is replaced is dropped without the lock.
                let rested = self.shared.lock().rest(cx.waker());
                if rested.is_some() {
                    return Poll::Pending;
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn ended(&mut self) -> Result<(), Broken> {
        match (self.agent.take_fault(), self.client.take_fault()) {
            (Some(fault), _) => Err(Broken::Agent(fault)),
            (None, Some(fault)) => Err(Broken::Client(fault)),
            (None, None) => Ok(()),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.shared.clock().now()
    }

    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.shared.lock())
    }

    fn wake(&mut self, wakers: impl IntoIterator<Item = Waker>) {
        for waker in wakers {
            self.again = true;
            waker.wake();
        }
    }

    fn poll_hooks(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some(answer)) = self.hooks.poll_next_unpin(cx) {
            self.answer(answer);
        }
    }

    pub(crate) fn answer(&mut self, (key, outcome): Answer) {
        let unheard = self.change(|state| state.answer(key, outcome));
        drop(unheard);
        self.again = true;
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, from: Side) {
        for _ in 0..MESSAGES_AT_ONCE {
            if !line!(self, from, line => line.reading && !line.quiet) {
                return;
            }
            let held = !self.change(|state| state.may_read(from));
            line!(self, from, line => line.held = held);
            if held {
                return;
            }
            match line!(self, from, line => line.poll_next(cx)) {
                Poll::Pending => return,
                Poll::Ready(Some(Ok(packet))) => self.take(cx, from, packet),
                Poll::Ready(Some(Err(fault))) => self.end(cx, from, Some(fault)),
                Poll::Ready(None) => self.end(cx, from, None),
            }
        }
        self.again = true;
    }

    fn take(&mut self, cx: &mut Context<'_>, from: Side, packet: Packet) {
        let now = self.now();
        self.change(|state| {
            let connection = state.connection(from);
            match packet {
                Packet::Frame { frame, .. } => connection.handle_frame(now, frame),
                Packet::Abandon(id) => connection.handle_abandon(&id),
                Packet::Failed { id, .. } => drop(connection.handle_failure(&id)),
                _ => {}
            }
        });
        self.deliver(cx, from);
    }

    /// Starts the chain's deadline, unless it runs already. Gives until when what goes on here has time to end.
    fn begin_closing(&self) -> Instant {
        let now = self.now();
        self.position.begin(now);
        self.position.within(now, self.config.drain)
    }

    /// Nothing more will come from a side.
    pub(crate) fn end(&mut self, cx: &mut Context<'_>, from: Side, fault: Option<Fault>) {
        let drained = self.begin_closing();
        line!(self, from, line => {
            line.reading = false;
            line.drained = Some(drained);
            line.blame(fault);
        });
        self.change(|state| state.connection(from).handle_end());
        self.again = true;
        self.deliver(cx, from);
    }

    /// Passes on what has happened at one side.
    fn deliver(&mut self, cx: &mut Context<'_>, from: Side) {
        while let Some(event) = self.change(|state| state.connection(from).poll_event()) {
            match event {
                Event::Request { incoming, request, .. } => self.begin(cx, Key { from, incoming }, request),
                Event::Notification(notification) => self.tell(from, notification),
                Event::Answered { call, outcome } => self.settle(cx, from, call, outcome),
                Event::Cancelled(incoming) => {
                    let wakers = self.change(|state| state.cancel(Key { from, incoming }));
                    self.wake(wakers);
                }
                // A late answer, or a complaint about what only the other side could explain.
                _ => {}
            }
            self.again = true;
        }
    }

    fn begin(&mut self, cx: &mut Context<'_>, key: Key, mut request: Request) {
        self.change(|state| {
            state.begin(key);
            if key.from == Side::Agent {
                map_scope(&mut request, |id| state.id_at_client(id));
            }
        });
        let next = Next { ends: self.ends.clone(), key };
        let mut hook = Hook { key, outcome: Box::pin((self.start)(key.from.outbound(), request, next)) };
        // Its first part must not be kept waiting by others who are due.
        match Pin::new(&mut hook).poll(cx) {
            Poll::Ready(answer) => self.answer(answer),
            Poll::Pending => {
                self.hooks.push(hook);
                self.poll_hooks(cx);
            }
        }
    }

    fn tell(&mut self, from: Side, notification: Notification) {
        let (proxy, ends) = (self.proxy, &self.ends);
        let hook = || proxy.notification(notification, from.outbound(), ends);
        // What panics there has been reported by the panic hook, and what it was meant to keep back is kept back.
        if let Ok(Some(Notification { method, params, .. })) = catch_unwind(AssertUnwindSafe(hook)) {
            self.change(|state| state.connection(from.other()).notify(method, params, None));
        }
    }

    fn settle(
        &mut self,
        cx: &mut Context<'_>,
        from: Side,
        call: CallId,
        outcome: Result<RawJson, CallFailure>,
    ) {
        let Some(waker) = self.change(|state| state.settle(from, call, outcome)) else {
            return;
        };
        waker.wake();
        // Whoever waited for it has its turn before the next message is looked at, so that the answer keeps its place.
        // It may take more than one, where others keep themselves awake.
        for _ in 0..=self.hooks.len() {
            self.poll_hooks(cx);
            if !self.change(|state| state.is_unheard(from, call)) {
                return;
            }
        }
    }

    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, to: Side) {
        let open = line!(self, to, line => line.failed.is_none() && line.sink == Sinking::Open);
        if open {
            let shared = self.shared;
            let next = || {
                let transmit = shared.lock().connection(to).poll_transmit()?;
                Some(Packet::Frame { frame: transmit.frame, related: None, origin: None })
            };
            let wants_output = || shared.lock().connection(to).wants_output();
            let written = line!(self, to, line => line.poll_write(cx, next, wants_output));
            if let Err(fault) = written {
                let until = self.begin_closing();
                line!(self, to, line => line.failed = Some((until, Some(fault))));
            }
        }
        if line!(self, to, line => line.failed.is_some() || line.sink != Sinking::Open) {
            // Nobody hears it.
            while self.change(|state| state.connection(to).poll_transmit()).is_some() {}
        }
        let from = to.other();
        let wakers = self.change(|state| state.take_room_wakers(to));
        self.wake(wakers);
        for side in [from, to] {
            if line!(self, side, line => line.held) && self.change(|state| state.may_read(side)) {
                line!(self, side, line => line.held = false);
                self.again = true;
            }
        }
    }
}
