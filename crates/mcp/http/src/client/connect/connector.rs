//! Connections for [`Hyper`](crate::client::Hyper): TCP, or a proxy, and TLS on top.
//!
//! ```text
//!            http          https
//! direct     TCP           TCP ─ TLS
//! proxied    proxy         proxy ─ CONNECT ─ TLS      (a proxy is TCP, or TCP ─ TLS)
//! ```

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::hyper::rt::{Read, ReadBufCursor, Write};
use futures::future::BoxFuture;
use http::Uri;
use http::uri::Scheme;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tower_service::Service;

use crate::client::BoxError;
use crate::client::connect::certificates::check_certificates;
use crate::client::connect::proxies::Proxies;

/// The root certificates that TLS trusts.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// Those of the platform, which are read at the first connection with TLS.
    Platform(Arc<CryptoProvider>),
    Given(Box<ClientConfig>),
}

impl Trust {
    /// Those of the platform, with the provider of cryptography of the process or of the features.
    pub(crate) fn platform() -> Result<Self, rustls::Error> {
        // Chosen here, because rustls panics if several providers are built in and none is installed.
        let provider = CryptoProvider::get_default().cloned().or_else(built_in);
        let missing = || rustls::Error::General("there is no `CryptoProvider`".into());
        Ok(Self::Platform(provider.ok_or_else(missing)?))
    }

    /// The settings of TLS. Reading files may block, so it runs on a blocking thread.
    async fn settings(self) -> Result<ClientConfig, BoxError> {
        match self {
            Self::Given(settings) => Ok(*settings),
            Self::Platform(provider) => tokio::task::spawn_blocking(|| platform_config(provider)).await?,
        }
    }
}

fn platform_config(provider: Arc<CryptoProvider>) -> Result<ClientConfig, BoxError> {
    check_certificates()?;
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(versions.try_with_platform_verifier()?.with_no_client_auth())
}

/// The provider that comes with the features; that of `rustls` if it has both, as it can do more.
#[cfg(feature = "rustls")]
fn built_in() -> Option<Arc<CryptoProvider>> {
    Some(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
}

#[cfg(all(feature = "rustls-ring", not(feature = "rustls")))]
fn built_in() -> Option<Arc<CryptoProvider>> {
    Some(Arc::new(rustls::crypto::ring::default_provider()))
}

#[cfg(not(any(feature = "rustls", feature = "rustls-ring")))]
fn built_in() -> Option<Arc<CryptoProvider>> {
    None
}

/// Connects to the host of a URL, within a time limit.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    direct: HttpConnector,
    proxies: Arc<Proxies>,
    trust: Trust,
    /// The connector for TLS, once a connection has needed it.
    tls: Arc<OnceCell<HttpsConnector<ProxyConnector>>>,
    timeout: Duration,
}

impl Connector {
    pub(crate) fn new(proxies: Arc<Proxies>, timeout: Duration, trust: Trust) -> Self {
        let mut direct = HttpConnector::new();
        direct.set_nodelay(true);
        direct.enforce_http(false);
        // Each of several addresses gets a share of this time, so a silent one leaves time for the others.
        direct.set_connect_timeout(Some(timeout));
        Self { direct, proxies, trust, tls: Arc::default(), timeout }
    }

    async fn connect(mut self, to: Uri) -> Result<MaybeHttpsStream<ClientConnection>, BoxError> {
        let plain = match self.proxies.intercept(&to) {
            _ if to.scheme() != Some(&Scheme::HTTP) => None,
            None => Some((to.clone(), RemoteEnd::Server)),
            Some(proxy) if proxy.uri().scheme() == Some(&Scheme::HTTP) => {
                Some((proxy.uri().clone(), RemoteEnd::Proxy))
            }
            Some(_) => None,
        };
        if let Some((to, end)) = plain {
            let stream = MaybeHttpsStream::Http(self.direct.call(to).await?);
            return Ok(MaybeHttpsStream::Http(ClientConnection { stream, end }));
        }
        let with_tls = async { Ok::<_, BoxError>(self.with_tls(self.trust.clone().settings().await?)) };
        let mut tls = self.tls.get_or_try_init(|| with_tls).await?.clone();
        tls.call(to).await
    }

    fn with_tls(&self, mut tls: ClientConfig) -> HttpsConnector<ProxyConnector> {
        // The offered protocols depend on the other end, and are set below.
        tls.alpn_protocols.clear();
        let to_proxies =
            HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http().enable_http1();
        let (direct, proxies) = (self.direct.clone(), self.proxies.clone());
        let route = ProxyConnector { to_proxies: to_proxies.wrap_connector(direct.clone()), direct, proxies };
        let schemes = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        #[cfg(feature = "http2")]
        let schemes = schemes.enable_all_versions();
        #[cfg(not(feature = "http2"))]
        let schemes = schemes.enable_http1();
        schemes.wrap_connector(route)
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<ClientConnection>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.direct.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let (connecting, timeout) = (self.clone().connect(to), self.timeout);
        Box::pin(async move {
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
            tokio::time::timeout(timeout, connecting).await.map_err(late)?
        })
    }
}

/// Connects to a server, or to the proxy in front of it; TLS with the server is on top.
#[derive(Clone, Debug)]
pub(crate) struct ProxyConnector {
    direct: HttpConnector,
    to_proxies: HttpsConnector<HttpConnector>,
    proxies: Arc<Proxies>,
}

impl Service<Uri> for ProxyConnector {
    type Response = ClientConnection;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<ClientConnection, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.direct.poll_ready(cx).map_err(Into::into)
    }

    /// A plain `http` URL arrives here only if its proxy uses TLS.
    fn call(&mut self, to: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.intercept(&to) else {
            let connecting = self.direct.call(to);
            return Box::pin(async move {
                let stream = MaybeHttpsStream::Http(connecting.await?);
                Ok(ClientConnection { stream, end: RemoteEnd::Server })
            });
        };
        if to.scheme() == Some(&Scheme::HTTP) {
            let connecting = self.to_proxies.call(proxy.uri().clone());
            return Box::pin(async move {
                Ok(ClientConnection { stream: connecting.await?, end: RemoteEnd::Proxy })
            });
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.to_proxies.clone());
        if let Some(authorization) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let connecting = tunnel.call(to);
        Box::pin(async move { Ok(ClientConnection { stream: connecting.await?, end: RemoteEnd::Server }) })
    }
}

/// A connection to a server, also through a tunnel, or to a proxy that passes requests on.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    stream: MaybeHttpsStream<TokioIo<TcpStream>>,
    end: RemoteEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RemoteEnd {
    Server,
    Proxy,
}

impl Connection for ClientConnection {
    /// Reports only whether requests must name the whole URL, as for a proxy. The protocol that a proxy has chosen does not
    /// hold for the server behind it.
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.end == RemoteEnd::Proxy)
    }
}

impl Read for ClientConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for ClientConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buffer)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use rustls::NamedGroup;

    use super::*;

    #[test]
    fn aws_lc_comes_before_ring_and_has_what_ring_lacks() {
        let has = |provider: Arc<CryptoProvider>| {
            provider.kx_groups.iter().any(|group| group.name() == NamedGroup::X25519MLKEM768)
        };
        let expected = if cfg!(feature = "rustls") {
            Some(true)
        } else {
            cfg!(feature = "rustls-ring").then_some(false)
        };
        assert_eq!(built_in().map(has), expected);
    }
}
