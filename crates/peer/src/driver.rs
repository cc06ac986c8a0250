use std::future::{Future, Pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Waker;

use agentwire_connection::{Connection, Event};
use agentwire_jsonrpc::{ErrorObject, Request};
use agentwire_transport::Transport;
use futures::FutureExt;

use crate::clock::Clock;
use crate::config::Config;
use crate::error::Closed;
use crate::handler::{Handler, RequestContext};
use crate::peer::Peer;
use crate::shared::Shared;
use crate::turn::{Answer, Turn};

/// What runs a connection: reads, writes, calls the handler, keeps the time.
///
/// It is one future. Nothing is spawned, so dropping it ends everything that it started.
#[derive(Debug)]
pub struct Driver {
    pub(crate) shared: Arc<Shared>,
    pub(crate) config: Config,
}

/// A driver, and a handle on the peer that it will connect to.
pub fn driver(config: Config, clock: impl Clock + 'static) -> (Peer, Driver) {
    let connection = Connection::new(config.connection.clone());
    let shared = Arc::new(Shared::new(connection, Arc::new(clock)));
    (Peer::new(shared.clone()), Driver { shared, config })
}

impl Driver {
    /// Serves the peer until it closes the connection.
    ///
    /// Requests that are being worked on then have [`Config::drain`] to end. The transport is closed at the
    /// end.
    ///
    /// # Errors
    ///
    /// What the transport reported last.
    pub async fn serve<H: Handler, T: Transport>(self, handler: H, transport: T) -> Result<(), Closed> {
        let (_, closed) = self.drive(handler, transport, None::<Pending<()>>).await;
        if closed.reason.is_some() { Err(closed) } else { Ok(()) }
    }

    /// Serves the peer until `main` completes, whose end is the connection's end.
    ///
    /// If the peer closes first, `main` goes on, and what it still asks of the peer fails. Gives what `main`
    /// gave, and why the connection ended where it did so before.
    pub async fn run<H: Handler, T: Transport, F: Future>(
        self,
        handler: H,
        transport: T,
        main: F,
    ) -> (F::Output, Closed) {
        let (output, closed) = self.drive(handler, transport, Some(main)).await;
        (output.expect("with a main future the end is its end"), closed)
    }

    async fn drive<H: Handler, T: Transport, F: Future>(
        self,
        handler: H,
        mut transport: T,
        main: Option<F>,
    ) -> (Option<F::Output>, Closed) {
        let over = OverGuard(self.shared.clone());
        let handler = &handler;
        let start = |request, context: RequestContext| answer(handler, request, context);
        let mut main = pin!(main);
        let mut turn = Turn::new(&self, handler, start, &mut transport);
        let mut output = None;
        poll_fn(|cx| turn.poll(cx, main.as_mut(), &mut output)).await;
        drop(turn);
        self.close(&mut transport).await;
        let reason = self.shared.lock().reason();
        drop(over);
        (output, reason)
    }

    /// Closes the transport, in bounded time.
    async fn close<T: Transport>(&self, transport: &mut T) {
        let deadline = self.shared.clock().sleep_until(self.shared.now() + self.config.close);
        let close = poll_fn(|cx| Pin::new(&mut *transport).poll_close(cx));
        // Whatever goes wrong while closing, the connection is over, and its own end says more.
        let _late_or_failed = futures::future::select(pin!(close), deadline).await;
    }
}

/// Runs a handler on one request. The call is inside the guard too: what a handler does before it has made
/// its future counts as the handler.
fn answer<H: Handler>(
    handler: &H,
    request: Request,
    context: RequestContext,
) -> impl Future<Output = Answer> {
    let owed = context.owed;
    let started = catch_unwind(AssertUnwindSafe(|| handler.request(request, context)));
    async move {
        let outcome = match started {
            Ok(future) => AssertUnwindSafe(future).catch_unwind().await,
            Err(panic) => Err(panic),
        };
        (owed, outcome.unwrap_or_else(|_panic| Err(ErrorObject::internal_error("the handler panicked"))))
    }
}

/// Tells everybody that the connection is over, also when the driver is dropped half-way.
struct OverGuard(Arc<Shared>);

impl Drop for OverGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        let mut wakers = state.shut(Closed::default());
        state.end(Closed::default());
        while let Some(event) = state.connection.poll_event() {
            if let Event::Answered { call, outcome } = event {
                wakers.extend(state.settle(call, outcome));
            }
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}
