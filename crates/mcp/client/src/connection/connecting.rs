//! Opens a connection for a [`Client`], and runs its background work beside the caller's code.

use std::pin::pin;

use agentwire_peer::{Closed, Driver, Peer, TokioClock, driver};
use agentwire_transport::Transport;
use futures_channel::oneshot;
use futures_util::future::{join, select};

use crate::changes::listening::{beside, listen};
use crate::connection::cleanup::{Cleanup, CleanupQueue};
use crate::handler::ClientHandler;
use crate::handshake::HandshakeConfig;
use crate::{BoxError, Client, Config, ConnectionError, HandshakeError, RemoteServer};

/// Connects to a server, with the defaults, for as long as `main` runs.
///
/// `main` is an async closure. The future can be spawned where the transport and the future of `main` are `Send`, also in code
/// that is generic over them:
///
/// ```
/// use agentwire_mcp_client::{BoxError, ConnectionError, RemoteServer, connect};
/// use agentwire_transport::Transport;
/// use tokio::task::JoinHandle;
///
/// fn run<T, F>(
///     transport: T,
///     main: impl FnOnce(RemoteServer) -> F + Send + 'static,
/// ) -> JoinHandle<Result<(), ConnectionError>>
/// where
///     T: Transport + Send + 'static,
///     F: Future<Output = Result<(), BoxError>> + Send + 'static,
/// {
///     tokio::spawn(connect(transport, main))
/// }
/// ```
///
/// # Errors
///
/// A [`ConnectionError`] with a [`HandshakeError`], or with the error of `main`. When the connection ends first, the calls that
/// `main` waits for fail with the reason.
pub fn connect<T, F, R>(
    transport: T,
    main: impl FnOnce(RemoteServer) -> F,
) -> impl Future<Output = Result<R, ConnectionError>>
where
    T: Transport,
    F: Future<Output = Result<R, BoxError>>,
{
    Client::default().connect(transport, main)
}

impl Client {
    /// Connects to a server for as long as `main` runs.
    ///
    /// The future needs the clock of a tokio runtime. Dropping it ends the connection. It can be spawned, as the future of
    /// [`connect`] can.
    ///
    /// ```no_run
    /// # use agentwire_mcp_client::{BoxError, Client};
    /// # async fn run(transport: impl agentwire_transport::Transport) -> Result<(), BoxError> {
    /// let client = Client::new("my-agent", "1.0.0");
    /// let names = client.connect(transport, async |server| {
    ///     let tools = server.tools().collect().await?;
    ///     Ok(tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>())
    /// });
    /// println!("{:?}", names.await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A [`ConnectionError`] with a [`HandshakeError`], or with the error of `main`. When the connection ends first, the calls
    /// that `main` waits for fail with the reason.
    pub async fn connect<T, F, R>(
        self,
        transport: T,
        main: impl FnOnce(RemoteServer) -> F,
    ) -> Result<R, ConnectionError>
    where
        T: Transport,
        F: Future<Output = Result<R, BoxError>>,
    {
        let Self { handshake, connection, handler } = self;
        let (peer, driver) = open(&handshake, connection);
        let (handler, mut queue) = for_connection(handler, &handshake);
        let for_server = handler.clone();
        let main = async move {
            let server = handshake.run(peer, &for_server).await.map_err(BoxError::from)?;
            let side = side(server.clone(), for_server, queue.as_mut());
            let output = beside(main(server), side).await;
            if let Some(queue) = queue {
                queue.finish().await;
            }
            output
        };
        driver.run(handler, transport, main).await.0.map_err(ConnectionError::new)
    }

    /// Returns two futures: one for the handle on a server, and one that runs the connection until the server closes it.
    ///
    /// This is for programs in which the connection does not end where a function ends. Nothing happens unless the second
    /// future is polled. The connection ends when the second future is dropped, when the first is dropped before it returns
    /// the handle, because nothing could use the connection then, or when the handshake fails.
    pub fn start<T: Transport>(
        self,
        transport: T,
    ) -> (impl Future<Output = Result<RemoteServer, HandshakeError>>, impl Future<Output = Result<(), Closed>>)
    {
        let Self { handshake, connection, handler } = self;
        let (peer, driver) = open(&handshake, connection);
        let (handler, mut queue) = for_connection(handler, &handshake);
        let (for_server, for_side) = (handler.clone(), handler.clone());
        let (connected, once_connected) = oneshot::channel();
        let closed = peer.closed();
        let connecting = async move {
            let server = handshake.run(peer, &for_server).await?;
            // The other future may be gone already.
            let _ = connected.send(server.clone());
            Ok(server)
        };
        let used = async move {
            if let Ok(server) = once_connected.await {
                side(server, for_side, queue.as_mut()).await;
                std::future::pending().await
            }
        };
        let connection = async move {
            let until_unused = async move { drop(select(pin!(used), closed).await) };
            let ((), closed) = driver.run(handler, transport, until_unused).await;
            if closed.reason.is_some() { Err(closed) } else { Ok(()) }
        };
        (connecting, connection)
    }
}

/// A connection before its handshake.
fn open(handshake: &HandshakeConfig, config: Config) -> (Peer, Driver) {
    let mut config = agentwire_peer::Config::from(config);
    config.connection.responses = handshake.responses();
    driver(config, TokioClock::default())
}

/// Returns a handler for one connection, and the queue of work that outlives calls if the connection needs it.
fn for_connection(
    handler: ClientHandler,
    handshake: &HandshakeConfig,
) -> (ClientHandler, Option<CleanupQueue>) {
    let mut handler = handler.for_connection();
    let sampling = handshake.capabilities.sampling.as_ref();
    handler.answers.samples_with_tools = sampling.is_some_and(|sampling| sampling.tools.is_some());
    let (cleanup, queue) = handler.tasks.is_some().then(Cleanup::queue).unzip();
    handler.cleanup = cleanup.unwrap_or_default();
    (handler, queue)
}

/// The work beside a connection's main future.
async fn side(server: RemoteServer, handler: ClientHandler, queue: Option<&mut CleanupQueue>) {
    let listening = listen(server, handler);
    match queue {
        Some(queue) => drop(join(listening, queue.run()).await),
        None => listening.await,
    }
}
