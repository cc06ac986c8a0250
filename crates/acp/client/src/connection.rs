//! The functions that connect, for both versions.

/// Defines `connect`, `connect_with` and `start` of a version, named as observers get it, in the module at `$path`. The module has `AgentHandle`, `Client`, `Dispatch` and `ConnectionState`.
macro_rules! connection {
    ($version:literal, $path:literal) => {
        /// Connects to an agent, with the default configuration, until `main` completes.
        ///
        /// `main` is an async closure. The future can be spawned where the transport and the future of `main` are `Send`, also
        /// in code that is generic over them:
        ///
        /// ```
        #[doc = concat!("use agentwire_acp_client::", $path, "{AgentHandle, Client, connect};")]
        /// use agentwire_acp_client::{BoxError, ConnectionError};
        /// use agentwire_transport::Transport;
        /// use tokio::task::JoinHandle;
        ///
        /// fn run<C, T, F>(
        ///     client: C,
        ///     transport: T,
        ///     main: impl FnOnce(AgentHandle) -> F + Send + 'static,
        /// ) -> JoinHandle<Result<(), ConnectionError>>
        /// where
        ///     C: Client + 'static,
        ///     T: Transport + Send + 'static,
        ///     F: Future<Output = Result<(), BoxError>> + Send + 'static,
        /// {
        ///     tokio::spawn(connect(client, transport, main))
        /// }
        /// ```
        ///
        /// # Errors
        ///
        /// A [`ConnectionError`] with the error of `main`. When the connection ends first, the pending calls of `main` fail
        /// with the reason.
        pub fn connect<C, T, F, R>(
            client: C,
            transport: T,
            main: impl FnOnce(AgentHandle) -> F,
        ) -> impl Future<Output = Result<R, ConnectionError>>
        where
            C: Client,
            T: Transport,
            F: Future<Output = Result<R, BoxError>>,
        {
            connect_with(client, transport, Config::new(), main)
        }

        /// Connects to an agent until `main` completes.
        ///
        /// ```
        #[doc = concat!("use agentwire_acp_client::", $path, "{Client, connect_with};")]
        /// use agentwire_acp_client::{Config, ConnectionError};
        /// use agentwire_transport::Transport;
        ///
        /// async fn run(client: impl Client, transport: impl Transport) -> Result<(), ConnectionError> {
        ///     let config = Config::new().request_limit(16);
        ///     connect_with(client, transport, config, async |agent| {
        ///         agent.closed().await;
        ///         Ok(())
        ///     })
        ///     .await
        /// }
        /// ```
        ///
        /// # Errors
        ///
        /// A [`ConnectionError`] with the error of `main`, as for [`connect`].
        pub async fn connect_with<C, T, F, R>(
            client: C,
            transport: T,
            config: Config,
            main: impl FnOnce(AgentHandle) -> F,
        ) -> Result<R, ConnectionError>
        where
            C: Client,
            T: Transport,
            F: Future<Output = Result<R, BoxError>>,
        {
            let (agent, dispatch, driver) = prepare(client, config);
            driver.run(dispatch, transport, main(agent)).await.0.map_err(ConnectionError::new)
        }

        /// Returns a handle on an agent, and the future that runs the connection to it until the agent closes it.
        ///
        /// For programs in which the connection outlives a function. Nothing happens unless the future is polled; dropping
        /// it ends the connection.
        ///
        /// ```
        #[doc = concat!("use agentwire_acp_client::", $path, "{AgentHandle, Client, start};")]
        /// use agentwire_acp_client::Config;
        /// use agentwire_transport::Transport;
        ///
        /// /// Connects in a task of its own.
        /// fn connected<C, T>(client: C, transport: T) -> AgentHandle
        /// where
        ///     C: Client + 'static,
        ///     T: Transport + Send + 'static,
        /// {
        ///     let (agent, connection) = start(client, transport, Config::new());
        ///     tokio::spawn(connection);
        ///     agent
        /// }
        /// ```
        pub fn start<C, T>(
            client: C,
            transport: T,
            config: Config,
        ) -> (AgentHandle, impl Future<Output = Result<(), Closed>>)
        where
            C: Client,
            T: Transport,
        {
            let (agent, dispatch, driver) = prepare(client, config);
            (agent, driver.serve(dispatch, transport))
        }

        fn prepare<C: Client>(client: C, config: Config) -> (AgentHandle, Dispatch<C>, Driver) {
            let value_limit = config.0.value_limit;
            let (peer, driver) = driver(config.into(), TokioClock::default());
            set_revision(&peer, $version);
            let shared = Arc::new(ConnectionState::default());
            (AgentHandle::new(peer, shared.clone()), Dispatch::new(client, shared, value_limit), driver)
        }
    };
}
pub(crate) use connection;
