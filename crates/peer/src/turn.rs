//! One poll of the driver: read, call, write, look at the time, until there is nothing to do.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use agentwire_connection::Event;
use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use agentwire_transport::{Fault, Origin, Packet, Transport};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, SinkExt, StreamExt};

use crate::config::Config;
use crate::driver::Driver;
use crate::error::Closed;
use crate::handler::{Handler, RequestContext};
use crate::peer::Peer;
use crate::shared::{Settled, Shared, State};
use crate::work::{Answer, Work};

/// How many frames are read before what they caused is written.
const FRAMES_AT_ONCE: usize = 256;

/// How many rounds are made before others on the same thread get their turn.
const ROUNDS_AT_ONCE: usize = 32;

/// Everything that a poll of the driver works on.
pub(crate) struct Turn<'a, H, T, S, C> {
    shared: &'a Arc<Shared>,
    config: &'a Config,
    peer: Peer,
    handler: &'a H,
    start: S,
    /// Requests that are being worked on. Made for the first that has to wait: many connections never have one.
    calls: Option<FuturesUnordered<Work<C>>>,
    /// How many bytes of params their requests came with.
    request_bytes: usize,
    /// Whether answers are taken: little enough waits to be sent.
    answering: bool,
    /// Whether requests may be among `calls` that came while no answers were taken, and have not been polled yet.
    has_unstarted: bool,
    transport: &'a mut T,
    /// Whether frames may still arrive.
    reading: bool,
    /// Whether reading was put off because too much waits to be sent.
    reading_later: bool,
    /// Whether the transport has said in this poll that nothing is there, and will wake us when there is.
    quiet: bool,
    /// Whether frames can still leave.
    writing: bool,
    /// Whether the transport holds what it was given.
    unflushed: bool,
    /// The size of the last frame that the transport took, until it has said that it has written it or has room again.
    last_sent: usize,
    /// Whether another round is due before the driver may wait.
    again: bool,
    /// When the connection ends, whatever is still to do.
    until: Option<Instant>,
    alarm: Option<Alarm>,
}

struct Alarm {
    at: Instant,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<'a, H, T, S, C> Turn<'a, H, T, S, C>
where
    H: Handler,
    T: Transport,
    S: Fn(Request, RequestContext) -> C,
    C: Future<Output = Result<RawJson, ErrorObject>>,
{
    pub(crate) fn new(driver: &'a Driver, handler: &'a H, start: S, transport: &'a mut T) -> Self {
        Self {
            shared: &driver.shared,
            config: &driver.config,
            peer: Peer::new(driver.shared.clone()),
            handler,
            start,
            calls: None,
            request_bytes: 0,
            answering: true,
            has_unstarted: false,
            transport,
            reading: true,
            reading_later: false,
            quiet: false,
            writing: true,
            unflushed: false,
            last_sent: 0,
            again: false,
            until: None,
            alarm: None,
        }
    }

    /// Works until there is nothing to do. With a main future the end is its end, without one the peer's.
    pub(crate) fn poll<F: Future>(
        &mut self,
        cx: &mut Context<'_>,
        mut main: Pin<&mut Option<F>>,
        output: &mut Option<F::Output>,
    ) -> Poll<()> {
        self.shared.lock().look();
        self.quiet = false;
        for _ in 0..ROUNDS_AT_ONCE {
            self.again = false;
            self.poll_calls(cx);
            if let Some(future) = main.as_mut().as_pin_mut()
                && let Poll::Ready(value) = self.shared.in_main(|| future.poll(cx))
            {
                *output = Some(value);
                main.set(None);
                self.finish(cx);
            }
            self.poll_read(cx);
            // What has changed until here, the rest of the round sees.
            let mut state = self.shared.lock();
            state.look();
            let skipped = std::mem::take(&mut state.skipped);
            drop(state);
            for (method, skipped) in skipped {
                guarded(|| self.handler.skipped(&method, skipped));
            }
            self.poll_write(cx);
            if main.is_none() && self.is_over() {
                self.give_up(cx);
                return Poll::Ready(());
            }
            self.poll_alarm(cx);
            if main.is_some() {
                self.outlive_peer(cx);
            }
            let rested = if self.again { None } else { self.shared.lock().rest(cx.waker()) };
            if let Some(idle) = rested {
                if idle {
                    self.shared.rest();
                }
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// The main future is done, and so is everybody else. What waits to be sent has [`Config::drain`] to leave.
    fn finish(&mut self, cx: &mut Context<'_>) {
        self.drop_calls();
        self.end(cx, None);
        let wakers = self.shared.lock().shut(Closed::default());
        self.wake(wakers);
    }

    /// The time is up. What is still being worked on is dropped, and the peer is told if it listens.
    fn give_up(&mut self, cx: &mut Context<'_>) {
        if !self.is_calm() {
            self.drop_calls();
            self.poll_write(cx);
        }
    }

    fn drop_calls(&mut self) {
        let Some(calls) = &mut self.calls else {
            return;
        };
        let dropped: Vec<_> = calls.iter().map(|work| work.owed).collect();
        calls.clear();
        self.request_bytes = 0;
        for owed in dropped {
            let wakers = self.shared.lock().cut_off(owed);
            self.wake(wakers);
            self.answer((
                owed,
                Err(ErrorObject::internal_error("the connection closes before the work is done")),
            ));
        }
    }

    /// Whether there is nothing left that could be done in the time left.
    fn is_over(&self) -> bool {
        if self.until.is_some_and(|until| until <= self.shared.now()) {
            return true;
        }
        let idle = || self.is_calm() && !self.unflushed && self.shared.lock().connection.is_idle();
        !self.reading && (!self.writing || idle())
    }

    /// Whether no request is being worked on.
    fn is_calm(&self) -> bool {
        self.calls.as_ref().is_none_or(FuturesUnordered::is_empty)
    }

    /// The main future goes on without a peer, once the time to hear why the peer is gone is over.
    fn outlive_peer(&mut self, cx: &mut Context<'_>) {
        if !self.reading {
            self.until = None;
        } else if self.until.is_some_and(|until| until <= self.shared.now()) {
            self.end(cx, None);
            self.until = None;
        }
    }

    /// Polls the requests that are being worked on while answers are taken: what a peer asks for and does not read must
    /// not fill our memory. Nothing is lost by the wait, since an answer would stand behind what waits to be sent.
    fn poll_calls(&mut self, cx: &mut Context<'_>) {
        while self.answering
            && let Some(calls) = &mut self.calls
        {
            let Poll::Ready(Some((answer, bytes))) = calls.poll_next_unpin(cx) else {
                self.has_unstarted = false;
                return;
            };
            self.request_bytes -= bytes;
            self.answer(answer);
        }
    }

    fn answer(&mut self, (owed, outcome): Answer) {
        let mut state = self.shared.lock();
        state.connection.answer(owed, outcome);
        state.forget_owed(owed);
        self.answering = self.takes_answers(&state);
    }

    /// Whether little enough waits to be sent, here and in the transport, for another answer.
    fn takes_answers(&self, state: &State) -> bool {
        !self.writing || state.connection.takes_answers(self.last_sent)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) {
        self.reading_later = false;
        if !self.reading || self.quiet {
            return;
        }
        // Looked at when something has come: mostly nothing has.
        let mut now = None;
        let mut wanted = self.shared.lock().connection.wants_input();
        for _ in 0..FRAMES_AT_ONCE {
            if !wanted {
                self.reading_later = true;
                return;
            }
            match self.transport.poll_next_unpin(cx) {
                Poll::Pending => {
                    self.quiet = true;
                    return;
                }
                Poll::Ready(Some(Ok(packet))) => {
                    wanted = match packet {
                        Packet::Frame { frame, origin, .. } => {
                            let now = *now.get_or_insert_with(|| self.shared.now());
                            let handle = |state: &mut State| state.connection.handle_frame(now, frame);
                            self.update_from(cx, origin.as_ref(), handle)
                        }
                        Packet::Abandon(id) => self.update(cx, |state| state.connection.handle_abandon(&id)),
                        Packet::Failed { id, fault } => self.update(cx, |state| state.fail(&id, fault)),
                        _ => continue,
                    };
                }
                Poll::Ready(Some(Err(fault))) => return self.end(cx, Some(fault)),
                Poll::Ready(None) => return self.end(cx, None),
            }
        }
        self.again = true;
    }

    /// Nothing more will arrive.
    fn end(&mut self, cx: &mut Context<'_>, fault: Option<Fault>) {
        self.reading = false;
        self.until = self.drained();
        let reason = Closed { reason: fault.map(Arc::new) };
        let mut wakers = Vec::new();
        self.update(cx, |state| wakers = state.end(reason));
        self.wake(wakers);
    }

    /// When the time to bring things to an end is over. None where that is further than the clock goes.
    fn drained(&self) -> Option<Instant> {
        self.shared.now().checked_add(self.config.drain)
    }

    /// Changes the connection and passes on what that caused. Says whether more may be read.
    fn update(&mut self, cx: &mut Context<'_>, change: impl FnOnce(&mut State)) -> bool {
        self.update_from(cx, None, change)
    }

    /// The same, for what came in with an origin.
    fn update_from(
        &mut self,
        cx: &mut Context<'_>,
        origin: Option<&Arc<dyn Origin>>,
        change: impl FnOnce(&mut State),
    ) -> bool {
        let mut state = self.shared.lock();
        change(&mut state);
        self.answering = self.takes_answers(&state);
        while let Some(event) = state.connection.poll_event() {
            drop(state);
            let answer = self.deliver(cx, event, origin);
            state = self.shared.lock();
            if let Some((owed, outcome)) = answer {
                state.connection.answer(owed, outcome);
                state.forget_owed(owed);
                self.answering = self.takes_answers(&state);
            }
        }
        state.connection.wants_input()
    }

    /// Passes on what happened. Gives the answer to a request whose handler had no need to wait.
    fn deliver(
        &mut self,
        cx: &mut Context<'_>,
        event: Event,
        origin: Option<&Arc<dyn Origin>>,
    ) -> Option<Answer> {
        match event {
            Event::Request { owed, request, in_batch } => {
                let bytes = request.params.as_ref().map_or(0, RawJson::len);
                let limit = self.config.request_bytes_limit;
                if self.request_bytes > 0 && self.request_bytes.saturating_add(bytes) > limit {
                    return Some((owed, Err(too_many_bytes(limit))));
                }
                if self.has_unstarted {
                    self.poll_calls(cx);
                }
                let peer = self.peer.relating(request.id.clone());
                let context = RequestContext { peer, owed, in_batch, origin: origin.cloned() };
                let mut work = Work::start(owed, bytes, || (self.start)(request, context));
                // Its first part must not be kept waiting by others who are due, and often is all of it.
                if self.answering
                    && let Poll::Ready((answer, _)) = work.poll_unpin(cx)
                {
                    return Some(answer);
                }
                self.has_unstarted |= !self.answering;
                self.request_bytes += bytes;
                self.calls.get_or_insert_default().push(work);
                self.poll_calls(cx);
            }
            Event::Notification(notification) => {
                guarded(|| self.handler.notification(notification, &self.peer));
            }
            Event::Progress { call, params } => {
                let hook = self.shared.lock().take_hook(call);
                if let Some(mut hook) = hook {
                    guarded(|| hook(params));
                    let unwanted = self.shared.lock().put_hook(call, hook);
                    drop(unwanted);
                }
            }
            Event::Answered { call, outcome } => {
                let mut settled = self.shared.lock().settle(call, outcome);
                if let Settled::Read(hook, result) = settled {
                    hook(result);
                    settled = self.shared.lock().settle(call, Ok(RawJson::EMPTY_OBJECT));
                }
                if let Settled::Wake(waker, is_main) = settled {
                    self.again = true;
                    // The main future is awake: the next round polls it.
                    if !(is_main && waker.will_wake(cx.waker())) {
                        waker.wake();
                    }
                }
            }
            Event::Cancelled(owed) => {
                let wakers = self.shared.lock().cancel(owed);
                self.wake(wakers);
            }
            Event::Stray(response) => guarded(|| self.handler.stray(response)),
            Event::Unreadable(error) => guarded(|| self.handler.unreadable(error)),
            _ => {}
        }
        None
    }

    /// Wakes those who may well be futures of our own, which then are due another round, or neighbours in the same
    /// task, which is to be polled again for them.
    fn wake(&mut self, wakers: impl IntoIterator<Item = Waker>) {
        for waker in wakers {
            self.again = true;
            waker.wake();
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) {
        if !self.writing {
            // Nobody hears it.
            while self.shared.lock().connection.poll_transmit().is_some() {}
            return;
        }
        if let Poll::Ready(Err(fault)) = self.poll_send(cx) {
            // Why the peer is gone is for the reading side to say; it has this long.
            self.writing = false;
            self.answering = true;
            self.again = true;
            self.until = self.until.or_else(|| self.drained());
            let reason = Closed { reason: Some(Arc::new(fault)) };
            let wakers = self.shared.lock().shut(reason);
            self.wake(wakers);
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        let mut more = self.shared.lock().connection.wants_output();
        while more && self.transport.poll_ready_unpin(cx)?.is_ready() {
            let mut state = self.shared.lock();
            let transmit = state.connection.poll_transmit();
            // With nothing to send the transport is not asked whether it is ready: it might answer that a peer
            // which has all it wanted is gone, and that is no fault.
            more = state.connection.wants_output();
            drop(state);
            if let Some(transmit) = transmit {
                self.last_sent = transmit.size;
                let packet = Packet::Frame { frame: transmit.frame, related: transmit.related, origin: None };
                self.transport.start_send_unpin(packet)?;
                self.unflushed = true;
            }
        }
        if self.unflushed && self.transport.poll_flush_unpin(cx)?.is_ready() {
            self.unflushed = false;
            self.last_sent = 0;
        }
        let mut state = self.shared.lock();
        self.again |= self.reading_later && state.connection.wants_input();
        let answering = state.connection.takes_answers(self.last_sent);
        self.again |= answering && !self.answering && !self.is_calm();
        self.answering = answering;
        let wakers = state.take_room_wakers();
        drop(state);
        self.wake(wakers);
        Poll::Ready(Ok(()))
    }

    /// Sets the alarm for whatever comes first, and heeds it.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) {
        let deadline = self.shared.lock().next_deadline();
        let Some(at) = deadline.into_iter().chain(self.until).min() else {
            return;
        };
        // An alarm that is too early does no harm, so a deadline that moves away costs nothing.
        if self.alarm.as_ref().is_none_or(|alarm| alarm.at > at) {
            self.alarm = Some(Alarm { at, sleep: self.shared.clock().sleep_until(at) });
        }
        let rang = self.alarm.as_mut().is_some_and(|alarm| alarm.sleep.as_mut().poll(cx).is_ready());
        if rang {
            self.alarm = None;
            self.again = true;
            let now = self.shared.now();
            let mut late = Vec::new();
            self.update(cx, |state| {
                state.connection.handle_timeout(now);
                late = state.take_late_wakers(now);
            });
            self.wake(late);
        }
    }
}

/// The answer to a request whose params would make us hold too much.
fn too_many_bytes(limit: usize) -> ErrorObject {
    let why = format_args!("requests of {limit} bytes wait for an answer, which is the limit");
    ErrorObject::internal_error(why).with_data(&BTreeMap::from([("limit", limit)]))
}

/// Calls what others wrote. What panics there has been reported by the panic hook, and concerns nobody else.
fn guarded(call: impl FnOnce()) {
    let _panicked = catch_unwind(AssertUnwindSafe(call));
}
