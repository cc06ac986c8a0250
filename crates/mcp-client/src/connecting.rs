//! What a client becomes: a connection, with what runs beside it.

use agentwire_peer::{Closed, TokioClock, driver};
use agentwire_transport::Transport;
use futures::channel::oneshot;

use crate::listening::beside;
use crate::tasks::{fresh, side};
use crate::{Client, HandshakeError, Server};

/// Whatever went wrong in the code that was given to [`connect`], or before it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Connects to a server, with the defaults, for as long as `main` runs.
///
/// # Errors
///
/// A [`HandshakeError`], or those of `main`. When the connection ends first, the calls that `main` waits for
/// fail, and say why.
pub async fn connect<T: Transport, R>(
    transport: T,
    main: impl AsyncFnOnce(Server) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    Client::default().connect(transport, main).await
}

impl Client {
    /// Connects to a server for as long as `main` runs.
    ///
    /// The future needs the clock of a tokio runtime. Dropping it ends the connection.
    ///
    /// # Errors
    ///
    /// As [`connect`] says.
    pub async fn connect<T: Transport, R>(
        self,
        transport: T,
        main: impl AsyncFnOnce(Server) -> Result<R, BoxError>,
    ) -> Result<R, BoxError> {
        let Self { handshake, connection, front } = self;
        let (peer, driver) = driver(connection, TokioClock::default());
        let (front, mut left) = fresh(front);
        let ears = front.clone();
        let main = async move {
            let server = handshake.with(peer, &ears).await?;
            let side = side(server.clone(), ears, left.as_mut());
            let output = beside(main(server), side).await;
            if let Some(left) = left {
                left.finish().await;
            }
            output
        };
        driver.run(front, transport, main).await.0
    }

    /// A future that gives the handle on a server, and the one that runs the connection until the server
    /// closes it.
    ///
    /// For programs in which the connection does not end where a function ends. Nothing happens unless the
    /// second future is polled; dropping it ends the connection.
    pub fn start<T: Transport>(
        self,
        transport: T,
    ) -> (impl Future<Output = Result<Server, HandshakeError>>, impl Future<Output = Result<(), Closed>>)
    {
        let Self { handshake, connection, front } = self;
        let (peer, driver) = driver(connection, TokioClock::default());
        let (front, mut left) = fresh(front);
        let (ears, known_to) = (front.clone(), front.clone());
        let (connected, once_connected) = oneshot::channel();
        let connecting = async move {
            let server = handshake.with(peer, &known_to).await?;
            // Where the other future is gone already, nobody listens.
            let _ = connected.send(server.clone());
            Ok(server)
        };
        let listening = async move {
            if let Ok(server) = once_connected.await {
                side(server, ears, left.as_mut()).await;
            }
        };
        (connecting, beside(driver.serve(front, transport), listening))
    }
}
