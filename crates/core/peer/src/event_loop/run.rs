//! Runs a driver: one port, one handler, and the main future.

use std::future::{Future, Pending, poll_fn};
use std::pin::pin;

use agentwire_transport::Transport;
use futures::future::select;

use crate::driver::Driver;
use crate::error::Closed;
use crate::event_loop::EventLoop;
use crate::event_loop::shutdown::Shutdown;
use crate::handler::Handler;
use crate::port::Port;

impl Driver {
    /// Serves the peer until it closes the connection, or until the signal of [`Config::shutdown`](crate::Config::shutdown).
    ///
    /// Handlers that are still at work then have [`Config::drain`](crate::Config::drain) to end. Finally the transport is
    /// closed.
    ///
    /// # Errors
    ///
    /// The error that the transport reported last.
    #[allow(clippy::manual_async_fn, reason = "the future of an async function holds its arguments twice")]
    pub fn serve<H: Handler, T: Transport>(
        self,
        handler: H,
        transport: T,
    ) -> impl Future<Output = Result<(), Closed>> {
        let mut port = Port::new(self, transport);
        async move {
            let (_, closed) = drive(&mut port, &handler, None::<Pending<()>>).await;
            if closed.reason.is_some() { Err(closed) } else { Ok(()) }
        }
    }

    /// Serves the peer until `main` completes, which ends the connection.
    ///
    /// If the peer closes first, `main` goes on, and its calls fail. Returns the output of `main`, and the reason why the
    /// connection closed if it closed first.
    #[allow(clippy::manual_async_fn, reason = "the future of an async function holds its arguments twice")]
    pub fn run<H: Handler, T: Transport, F: Future>(
        self,
        handler: H,
        transport: T,
        main: F,
    ) -> impl Future<Output = (F::Output, Closed)> {
        let mut port = Port::new(self, transport);
        async move {
            let (output, closed) = drive(&mut port, &handler, Some(main)).await;
            (output.expect("the loop ends after the main future"), closed)
        }
    }
}

async fn drive<H: Handler, T: Transport, F: Future>(
    port: &mut Port<T>,
    handler: &H,
    main: Option<F>,
) -> (Option<F::Output>, Closed) {
    let start = |request, context| handler.request(request, context);
    let shutdown = port.config().shutdown.as_ref().filter(|_| main.is_none()).map(Shutdown::signal);
    let mut main = pin!(main);
    let mut event_loop = EventLoop::new(port, handler, start, shutdown);
    let mut output = None;
    poll_fn(|cx| event_loop.poll(cx, main.as_mut(), &mut output)).await;
    drop(event_loop);
    port.close();
    close_transport(port).await;
    (output, port.reason())
}

/// Closes the transport within [`Config::close`](crate::Config::close).
async fn close_transport<T: Transport>(port: &mut Port<T>) {
    // Most transports close at once, so no timer is made for them.
    if futures::poll!(poll_fn(|cx| port.poll_close(cx))).is_ready() {
        return;
    }
    let late = port.clock().sleep(port.config().close);
    let close = pin!(poll_fn(|cx| port.poll_close(cx)));
    drop(select(close, late).await);
}
