//! Opens connections to a single engine, to a cluster, or to the master that sentinels name.

use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, IntoConnectionInfo, Pipeline, ProtocolVersion,
    PushInfo, RedisFuture, RedisResult, Value,
};
#[cfg(feature = "tls")]
use redis::{ConnectionAddr, TlsMode};
use tokio::sync::mpsc::UnboundedSender;

use crate::link::config::{Address, RedisConfig};

/// A connection. Clones share it.
#[derive(Clone)]
pub(crate) enum Connection {
    One(MultiplexedConnection),
    /// Connections to all masters. The client library replaces those that are closed.
    Cluster(ClusterConnection),
}

impl Connection {
    fn inner(&mut self) -> &mut (dyn ConnectionLike + Send) {
        match self {
            Self::One(connection) => connection,
            Self::Cluster(connection) => connection,
        }
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        self.inner().req_packed_command(command)
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.inner().req_packed_commands(pipeline, offset, count)
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One(connection) => connection.get_db(),
            Self::Cluster(connection) => connection.get_db(),
        }
    }
}

/// The parsed address of the engine, and the settings of connections to it.
pub(crate) struct Engine {
    target: Target,
    timeout: Duration,
    /// The longest time-out of a command or pipeline.
    response_timeout: Duration,
    #[cfg(feature = "tls")]
    certificates: crate::link::tls::Certificates,
}

enum Target {
    One(Client),
    Cluster(Vec<ConnectionInfo>),
    Sentinel(Vec<ConnectionInfo>, String),
}

impl Engine {
    /// Parses the addresses.
    pub(crate) fn new(config: &RedisConfig, response_timeout: Duration) -> RedisResult<Self> {
        let all = |urls: &[String]| urls.iter().map(|url| resp3(url)).collect::<RedisResult<Vec<_>>>();
        let target = match &config.address {
            Address::One(url) => Target::One(client(config, resp3(url)?)?),
            Address::Cluster(urls) => {
                let nodes = all(urls)?;
                // It fails on an empty list and on different passwords.
                ClusterClient::new(nodes.clone())?;
                Target::Cluster(nodes)
            }
            Address::Sentinel(urls, master) => Target::Sentinel(all(urls)?, master.clone()),
        };
        let engine = Self {
            target,
            timeout: config.timeout,
            response_timeout,
            #[cfg(feature = "tls")]
            certificates: config.certificates.clone(),
        };
        #[cfg(feature = "tls")]
        if engine.has_tls() {
            crate::link::tls::choose_provider();
        }
        Ok(engine)
    }

    #[cfg(feature = "tls")]
    fn has_tls(&self) -> bool {
        match &self.target {
            Target::One(client) => is_tls(client.get_connection_info()),
            Target::Cluster(nodes) | Target::Sentinel(nodes, _) => nodes.iter().any(is_tls),
        }
    }

    /// Returns whether keys are divided among masters.
    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.target, Target::Cluster(_))
    }

    /// Opens a connection. `pushes` receives the push messages of the engine.
    pub(crate) async fn connect(&self, pushes: Option<UnboundedSender<PushInfo>>) -> RedisResult<Connection> {
        let client = match &self.target {
            Target::One(client) => client.clone(),
            Target::Sentinel(sentinels, master) => self.master(sentinels, master).await?,
            Target::Cluster(nodes) => return self.cluster(nodes, pushes).await,
        };
        let mut config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.response_timeout));
        if let Some(pushes) = pushes {
            config = config.set_push_sender(pushes);
        }
        Ok(Connection::One(client.get_multiplexed_async_connection_with_config(&config).await?))
    }

    async fn cluster(
        &self,
        nodes: &[ConnectionInfo],
        pushes: Option<UnboundedSender<PushInfo>>,
    ) -> RedisResult<Connection> {
        let mut builder = ClusterClientBuilder::new(nodes.to_vec())
            .use_protocol(ProtocolVersion::RESP3)
            .connection_timeout(self.timeout)
            .response_timeout(self.response_timeout)
            .retries(3);
        if let Some(pushes) = pushes {
            builder = builder.push_sender(pushes);
        }
        #[cfg(feature = "tls")]
        if self.has_tls() {
            builder = builder.certs(self.certificates.get());
        }
        Ok(Connection::Cluster(builder.build()?.get_async_connection().await?))
    }

    async fn master(&self, sentinels: &[ConnectionInfo], master: &str) -> RedisResult<Client> {
        let addresses = sentinels.iter().map(|info| info.addr().clone());
        let mut builder = SentinelClientBuilder::new(addresses, master, SentinelServerType::Master)?
            .set_client_to_redis_protocol(ProtocolVersion::RESP3);
        if let Some(settings) = sentinels.first().map(ConnectionInfo::redis_settings) {
            builder = builder.set_client_to_redis_db(settings.db());
            if let Some(user) = settings.username() {
                builder = builder.set_client_to_redis_username(user).set_client_to_sentinel_username(user);
            }
            if let Some(password) = settings.password() {
                builder =
                    builder.set_client_to_redis_password(password).set_client_to_sentinel_password(password);
            }
        }
        #[cfg(feature = "tls")]
        if self.has_tls() {
            builder = builder
                .set_client_to_redis_tls_mode(TlsMode::Secure)
                .set_client_to_redis_certificates(self.certificates.get())
                .set_client_to_sentinel_tls_mode(TlsMode::Secure)
                .set_client_to_sentinel_certificates(self.certificates.get());
        }
        builder.build()?.async_get_client().await
    }
}

/// The client of one engine.
fn client(config: &RedisConfig, info: ConnectionInfo) -> RedisResult<Client> {
    #[cfg(feature = "tls")]
    if is_tls(&info) {
        return Client::build_with_tls(info, config.certificates.get());
    }
    let _ = config;
    Client::open(info)
}

#[cfg(feature = "tls")]
fn is_tls(info: &ConnectionInfo) -> bool {
    matches!(info.addr(), ConnectionAddr::TcpTls { .. })
}

/// Parses an address, and selects RESP3: only that version has push messages.
fn resp3(url: &str) -> RedisResult<ConnectionInfo> {
    let info = url.into_connection_info()?;
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    Ok(info.set_redis_settings(settings))
}
