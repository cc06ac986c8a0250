//! The functions that connect, for both versions.

/// Defines `connect`, `connect_with` and `start` of a version, named as observers get it. The module has `AgentHandle`, `Client`, `Dispatch` and `ConnectionState`.
macro_rules! connection {
    ($version:literal) => {
        /// Connects to an agent, with the default configuration, until `main` completes.
        ///
        /// # Errors
        ///
        /// Those of `main`. When the connection ends first, the pending calls of `main` fail with the reason.
        pub async fn connect<C, T, R>(
            client: C,
            transport: T,
            main: impl AsyncFnOnce(AgentHandle) -> Result<R, BoxError>,
        ) -> Result<R, BoxError>
        where
            C: Client,
            T: Transport,
        {
            connect_with(client, transport, Config::new(), main).await
        }

        /// Connects to an agent until `main` completes.
        ///
        /// # Errors
        ///
        /// Those of `main`, as for [`connect`].
        pub async fn connect_with<C, T, R>(
            client: C,
            transport: T,
            config: Config,
            main: impl AsyncFnOnce(AgentHandle) -> Result<R, BoxError>,
        ) -> Result<R, BoxError>
        where
            C: Client,
            T: Transport,
        {
            let (agent, dispatch, driver) = prepare(client, config);
            driver.run(dispatch, transport, main(agent)).await.0
        }

        /// Returns a handle on an agent, and the future that runs the connection to it until the agent closes it.
        ///
        /// For programs in which the connection outlives a function. Nothing happens unless the future is polled; dropping
        /// it ends the connection.
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
