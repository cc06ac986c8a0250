//! The event loop of a connection with handlers. One poll of it makes rounds of running handlers, reading, writing and
//! checking deadlines, until nothing is left to do.

pub(crate) mod run;
pub(crate) mod shutdown;
pub(crate) mod timer;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use agentwire_connection::{Event, IncomingId};
use agentwire_jsonrpc::{ErrorObject, RawJson, Request, code};
use agentwire_transport::{MessageSource, Transport, TransportError};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use crate::error::Closed;
use crate::event_loop::timer::Timer;
use crate::handler::future::{HandlerFuture, RequestOutcome};
use crate::handler::{Handler, RequestContext};
use crate::panics::guarded;
use crate::port::{Input, Port};

/// The most frames that are read before the loop writes.
const FRAMES_AT_ONCE: usize = 256;

/// The most rounds in one poll, after which other tasks on the same thread run.
const ROUNDS_AT_ONCE: usize = 32;

/// A port, the handler of its requests, and the handler futures that are running.
pub(crate) struct EventLoop<'a, H, T, S, C> {
    port: &'a mut Port<T>,
    handler: &'a H,
    start: S,
    /// The handlers that were pending in their first poll. The set is made for the first of them, because an idle session has
    /// none and a set takes 184 bytes.
    handlers: Option<FuturesUnordered<HandlerFuture<C>>>,
    /// The size of the params of their requests in bytes.
    request_bytes: usize,
    /// Whether `handlers` may hold some that were never polled, because [handlers were paused](Port::may_run_handlers).
    has_unstarted: bool,
    /// The time at which the connection ends, even if work is left.
    until: Option<Instant>,
    /// Completes when this side must end the connection. `None` without such a signal.
    shutdown: Option<BoxFuture<'static, ()>>,
    /// Whether this side ends the connection: it refuses requests, and still reads responses for the handlers at work.
    is_shutting_down: bool,
    timer: Timer,
}

impl<'a, H, T, S, C> EventLoop<'a, H, T, S, C>
where
    H: Handler,
    T: Transport,
    S: Fn(Request, RequestContext) -> C,
    C: Future<Output = Result<RawJson, ErrorObject>>,
{
    /// Creates a loop that ends with the connection, or with `shutdown` if there is one.
    pub(crate) fn new(
        port: &'a mut Port<T>,
        handler: &'a H,
        start: S,
        shutdown: Option<BoxFuture<'static, ()>>,
    ) -> Self {
        Self {
            port,
            handler,
            start,
            handlers: None,
            request_bytes: 0,
            has_unstarted: false,
            until: None,
            shutdown,
            is_shutting_down: false,
            timer: Timer::default(),
        }
    }

    /// Makes rounds until nothing is left to do. Ready once the connection is over: after the main future has completed, or
    /// without one, after the peer has closed its side or the shutdown is complete.
    pub(crate) fn poll<F: Future>(
        &mut self,
        cx: &mut Context<'_>,
        mut main: Pin<&mut Option<F>>,
        output: &mut Option<F::Output>,
    ) -> Poll<()> {
        self.port.begin_poll();
        for _ in 0..ROUNDS_AT_ONCE {
            self.poll_handlers(cx);
            if let Some(future) = main.as_mut().as_pin_mut()
                && let Poll::Ready(value) = self.port.shared().in_main(|| future.poll(cx))
            {
                *output = Some(value);
                main.set(None);
                self.finish(cx);
            }
            self.poll_shutdown(cx);
            self.poll_read(cx);
            for (method, skipped) in self.port.begin_write() {
                guarded(|| self.handler.skipped(&method, skipped));
            }
            self.poll_write(cx);
            if main.is_none() && self.is_over() {
                self.give_up(cx);
                return Poll::Ready(());
            }
            self.poll_timer(cx);
            if main.is_some() {
                self.outlive_peer(cx);
            }
            if self.port.prepare_wait(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Ends the connection after the main future. Queued frames have [`Config::drain`](crate::Config::drain) to leave.
    fn finish(&mut self, cx: &mut Context<'_>) {
        self.drop_handlers();
        self.close_read(cx, None);
        self.port.close_write(Closed::default());
    }

    /// Polls the shutdown signal. After it, the handlers at work have [`Config::drain`](crate::Config::drain) to end.
    fn poll_shutdown(&mut self, cx: &mut Context<'_>) {
        if self.shutdown.as_mut().is_some_and(|signal| signal.poll_unpin(cx).is_ready()) {
            self.shutdown = None;
            self.is_shutting_down = true;
            self.until = self.until.or_else(|| self.drain_deadline());
        }
    }

    /// Drops the handlers that are still at work when the time is up. The peer gets errors, if it still reads.
    fn give_up(&mut self, cx: &mut Context<'_>) {
        if self.has_handlers() {
            self.drop_handlers();
            self.poll_write(cx);
        }
    }

    fn drop_handlers(&mut self) {
        let handlers = self.handlers.take();
        let dropped: Vec<_> = handlers.iter().flatten().map(|handler| handler.incoming).collect();
        drop(handlers);
        self.request_bytes = 0;
        for incoming in dropped {
            self.port.abort(incoming);
        }
    }

    fn has_handlers(&self) -> bool {
        self.handlers.as_ref().is_some_and(|handlers| !handlers.is_empty())
    }

    /// Whether the connection is over: no work is left, or the time for it has passed.
    fn is_over(&self) -> bool {
        if self.until.is_some_and(|until| until <= self.port.clock().now()) {
            return true;
        }
        let is_idle = || !self.has_handlers() && self.port.is_idle();
        if self.port.is_reading() {
            return self.is_shutting_down && is_idle();
        }
        !self.port.is_writing() || is_idle()
    }

    /// Lets the main future continue without a peer. After a failed write, reading has until `until` to report why the peer
    /// is gone.
    fn outlive_peer(&mut self, cx: &mut Context<'_>) {
        if !self.port.is_reading() {
            self.until = None;
        } else if self.until.is_some_and(|until| until <= self.port.clock().now()) {
            self.close_read(cx, None);
            self.until = None;
        }
    }

    /// Polls the handlers while [they may run](Port::may_run_handlers).
    fn poll_handlers(&mut self, cx: &mut Context<'_>) {
        while let Some(handlers) = &mut self.handlers
            && !handlers.is_empty()
            && self.port.may_run_handlers()
        {
            let Poll::Ready(Some(((incoming, outcome), bytes))) = handlers.poll_next_unpin(cx) else {
                self.has_unstarted = false;
                return;
            };
            self.request_bytes -= bytes;
            self.port.answer(incoming, outcome);
        }
        self.has_unstarted &= self.has_handlers();
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) {
        if !self.port.begin_read() {
            return;
        }
        for _ in 0..FRAMES_AT_ONCE {
            match self.port.poll_read(cx, true) {
                Poll::Pending => return,
                Poll::Ready(Input::Packet { event, source }) => self.deliver(cx, event, source.as_ref()),
                Poll::Ready(Input::Gap(end)) => guarded(|| self.handler.gap(end)),
                Poll::Ready(Input::End(error)) => return self.close_read(cx, error),
            }
        }
        self.port.request_round();
    }

    /// Ends reading, and starts the drain time of the handlers at work.
    fn close_read(&mut self, cx: &mut Context<'_>, error: Option<TransportError>) {
        self.until = self.drain_deadline();
        let event = self.port.close_read(Closed { reason: error.map(Arc::new) });
        self.deliver(cx, event, None);
    }

    /// The time [`Config::drain`](crate::Config::drain) from now. `None` if the clock cannot represent it.
    fn drain_deadline(&self) -> Option<Instant> {
        self.port.clock().now().checked_add(self.port.config().drain)
    }

    /// Delivers an event and the events after it.
    fn deliver(
        &mut self,
        cx: &mut Context<'_>,
        mut event: Option<Event>,
        source: Option<&Arc<dyn MessageSource>>,
    ) {
        while let Some(next) = event {
            event = match self.deliver_one(cx, next, source) {
                Some((incoming, outcome)) => self.port.answer_and_next(incoming, outcome),
                None => self.port.next_event(),
            };
        }
    }

    /// Delivers an event. Returns the response to a request whose handler was ready in its first poll.
    fn deliver_one(
        &mut self,
        cx: &mut Context<'_>,
        event: Event,
        source: Option<&Arc<dyn MessageSource>>,
    ) -> Option<RequestOutcome> {
        match event {
            Event::Request { incoming, request, in_batch } => {
                return self.start_handler(cx, incoming, request, in_batch, source);
            }
            Event::Notification(notification) => {
                guarded(|| self.handler.notification(notification, self.port.peer()));
            }
            Event::Progress { call, params } => self.port.progress(call, params),
            Event::CallEnded { call, outcome } => self.port.settle(cx, call, outcome),
            Event::Cancelled(incoming) => self.port.cancel(incoming),
            Event::UnmatchedResponse(response) => guarded(|| self.handler.unmatched_response(response)),
            Event::CancelledResponse(response) => guarded(|| self.handler.cancelled_response(response)),
            Event::Unreadable(error) => guarded(|| self.handler.unreadable(error)),
            _ => {}
        }
        None
    }

    /// Calls the handler for a request, and polls it for the first time. Returns the response if it was ready.
    fn start_handler(
        &mut self,
        cx: &mut Context<'_>,
        incoming: IncomingId,
        request: Request,
        in_batch: bool,
        source: Option<&Arc<dyn MessageSource>>,
    ) -> Option<RequestOutcome> {
        if self.is_shutting_down {
            let closing = ErrorObject::new(code::INTERNAL_ERROR, "the server is shutting down");
            return Some((incoming, Err(closing)));
        }
        let bytes = request.params.as_ref().map_or(0, RawJson::len);
        let limit = self.port.config().request_bytes_limit;
        if self.request_bytes > 0 && self.request_bytes.saturating_add(bytes) > limit {
            return Some((incoming, Err(too_many_bytes(limit))));
        }
        if self.has_unstarted {
            self.poll_handlers(cx);
        }
        let peer = self.port.peer().relating(request.id.clone());
        let context = RequestContext { peer, incoming, in_batch, source: source.cloned() };
        let observer = self.port.call_observer(&request.id);
        let start = || (self.start)(request, context);
        let mut handler = HandlerFuture::start(incoming, bytes, observer, start);
        // The part before its first wait must not wait for other handlers, and is often the whole handler.
        if self.port.may_run_handlers()
            && let Poll::Ready((answer, _)) = handler.poll_unpin(cx)
        {
            return Some(answer);
        }
        self.has_unstarted |= !self.port.may_run_handlers();
        self.request_bytes += bytes;
        self.handlers.get_or_insert_default().push(handler);
        self.poll_handlers(cx);
        None
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) {
        let could_run_handlers = self.port.may_run_handlers();
        if let Err(error) = self.port.poll_write(cx) {
            // Until then, reading may report why the peer is gone.
            self.until = self.until.or_else(|| self.drain_deadline());
            self.port.close_write(Closed { reason: Some(Arc::new(error)) });
        }
        if self.port.may_run_handlers() && !could_run_handlers && self.has_handlers() {
            self.port.request_round();
        }
    }

    /// Sets the timer for the first deadline, and handles time-outs if it has completed.
    fn poll_timer(&mut self, cx: &mut Context<'_>) {
        let deadline = self.port.next_deadline();
        if let Some(at) = deadline.into_iter().chain(self.until).min()
            && self.timer.poll(cx, self.port.clock(), at)
        {
            let event = self.port.handle_timeout();
            self.deliver(cx, event, None);
        }
    }
}

/// The response to a request whose params would take too much memory.
fn too_many_bytes(limit: usize) -> ErrorObject {
    let why = format!(
        "requests of {limit} bytes are unanswered, which is the limit; `request_bytes_limit` raises it"
    );
    ErrorObject::new(code::INTERNAL_ERROR, why).with_data(&BTreeMap::from([("limit", limit)]))
}
