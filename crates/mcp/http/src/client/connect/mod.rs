//! Connections to a server: sockets, TLS, proxies, and the two libraries that send requests over them.

#[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
pub(crate) mod certificates;
pub(crate) mod connect_fault;
#[cfg(feature = "rustls-no-provider")]
pub(crate) mod connector;
pub(crate) mod http_client;
#[cfg(feature = "rustls-no-provider")]
pub(crate) mod hyper;
#[cfg(feature = "reqwest")]
pub(crate) mod plain;
#[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
pub(crate) mod proxies;
#[cfg(feature = "reqwest")]
pub(crate) mod reqwest;
