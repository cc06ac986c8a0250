use std::future::{Future, Pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;

use agentwire_connection::Connection;
use agentwire_transport::Transport;
use futures::future::select;

use crate::clock::Clock;
use crate::config::Config;
use crate::error::Closed;
use crate::handler::Handler;
use crate::peer::Peer;
use crate::shared::Shared;
use crate::turn::Turn;

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
    let shared = Arc::new(Shared::new(connection, Box::new(clock), config.value_limit));
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
    #[allow(clippy::manual_async_fn, reason = "the future of an async function holds its arguments twice")]
    pub fn serve<H: Handler, T: Transport>(
        self,
        handler: H,
        mut transport: T,
    ) -> impl Future<Output = Result<(), Closed>> {
        async move {
            let (_, closed) = self.drive(&handler, &mut transport, None::<Pending<()>>).await;
            if closed.reason.is_some() { Err(closed) } else { Ok(()) }
        }
    }

    /// Serves the peer until `main` completes, whose end is the connection's end.
    ///
    /// If the peer closes first, `main` goes on, and what it still asks of the peer fails. Gives what `main`
    /// gave, and why the connection ended where it did so before.
    #[allow(clippy::manual_async_fn, reason = "the future of an async function holds its arguments twice")]
    pub fn run<H: Handler, T: Transport, F: Future>(
        self,
        handler: H,
        mut transport: T,
        main: F,
    ) -> impl Future<Output = (F::Output, Closed)> {
        async move {
            let (output, closed) = self.drive(&handler, &mut transport, Some(main)).await;
            (output.expect("with a main future the end is its end"), closed)
        }
    }

    async fn drive<H: Handler, T: Transport, F: Future>(
        &self,
        handler: &H,
        transport: &mut T,
        main: Option<F>,
    ) -> (Option<F::Output>, Closed) {
        let start = |request, context| handler.request(request, context);
        let mut main = pin!(main);
        let mut turn = Turn::new(self, handler, start, transport);
        let mut output = None;
        poll_fn(|cx| turn.poll(cx, main.as_mut(), &mut output)).await;
        drop(turn);
        self.shared.hang_up();
        self.close(transport).await;
        let reason = self.shared.lock().reason();
        (output, reason)
    }

    /// Closes the transport, in bounded time.
    async fn close<T: Transport>(&self, transport: &mut T) {
        let mut close = pin!(poll_fn(|cx| Pin::new(&mut *transport).poll_close(cx)));
        // Most have nothing to wait for, so no timer is made for them.
        if futures::poll!(close.as_mut()).is_ready() {
            return;
        }
        // Whatever goes wrong while closing, the connection is over, and its own end says more.
        match self.shared.now().checked_add(self.config.close) {
            Some(deadline) => drop(select(close, self.shared.clock().sleep_until(deadline)).await),
            None => drop(close.await),
        }
    }
}

/// Tells everybody that the connection is over, also when the driver is dropped half-way or never runs.
impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.hang_up();
    }
}
