//! Implements `HttpClient` with `reqwest` and gzip. Plain `http` requests without a proxy go to hyper directly.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryFutureExt, TryStreamExt};
use http::{Request, Response};
use tokio::sync::OnceCell;

use crate::client::connect::certificates::check_certificates;
use crate::client::connect::plain::Plain;
use crate::client::connect::proxies::Proxies;
use crate::client::exchange::inflate;
use crate::client::{Body, BoxError, HttpClient, HttpClientError};

/// [`HttpClient`] by `reqwest`: HTTP/1.1 and HTTP/2 with connections that are kept, and TLS by rustls.
///
/// It runs on tokio. A clone shares its connections.
///
/// Compression, proxies and the user agent are as described at `Hyper`, the client without `reqwest`. Plain `http` requests
/// without a proxy go to hyper directly.
#[derive(Clone, Debug)]
pub struct Reqwest(Clients);

#[derive(Clone, Debug)]
enum Clients {
    Given(::reqwest::Client),
    Own(Box<OwnClients>),
}

/// The clients of [`Reqwest::new`].
#[derive(Clone, Debug)]
struct OwnClients {
    connect_timeout: Duration,
    proxies: Arc<Proxies>,
    plain: Plain,
    /// Built for the first request that `plain` cannot send, because building them reads the platform's root
    /// certificates.
    with_tls: Arc<OnceCell<ClientsWithTls>>,
}

#[derive(Clone, Debug)]
struct ClientsWithTls {
    client: ::reqwest::Client,
    /// For URLs that `NO_PROXY` exempts: `reqwest` does not know each form of it.
    direct: ::reqwest::Client,
}

impl Reqwest {
    /// A client that follows no redirect and waits `connect_timeout` for a connection.
    ///
    /// It reads the platform's root certificates at the first request that needs TLS or a proxy. If `SSL_CERT_FILE` or
    /// `SSL_CERT_DIR` names none that can be used, such a request fails with a
    /// [`CertificateError`](crate::client::CertificateError).
    ///
    /// # Errors
    ///
    /// Never fails. [`DefaultClient`](crate::client::DefaultClient) may be another client, whose `new` can fail.
    pub fn new(connect_timeout: Duration) -> Result<Self, HttpClientError> {
        let proxies = Arc::new(Proxies::from_environment());
        let plain = Plain::new(connect_timeout, proxies.clone());
        let own = OwnClients { connect_timeout, proxies, plain, with_tls: Arc::default() };
        Ok(Self(Clients::Own(Box::new(own))))
    }
}

/// Takes a client with settings of its own. It must follow no redirects: `reqwest` would send the headers of this protocol to
/// any origin.
impl From<::reqwest::Client> for Reqwest {
    fn from(client: ::reqwest::Client) -> Self {
        Self(Clients::Given(client))
    }
}

impl HttpClient for Reqwest {
    fn send(&self, mut request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        inflate::offer(request.headers_mut());
        match &self.0 {
            Clients::Given(client) => send(client.clone(), request).map_ok(inflate::inflated).boxed(),
            Clients::Own(own) => own.clone().send(request).map_ok(inflate::inflated).boxed(),
        }
    }
}

impl OwnClients {
    async fn send(self, request: Request<Bytes>) -> Result<Response<Body>, BoxError> {
        if self.plain.reaches(request.uri()) {
            return self.plain.send(request).await;
        }
        let (timeout, exempts_none) = (self.connect_timeout, self.proxies.exempts_none());
        // Reading files may block, so it runs on a blocking thread.
        let build = async { tokio::task::spawn_blocking(move || with_tls(timeout, exempts_none)).await? };
        let clients = self.with_tls.get_or_try_init(|| build).await?.clone();
        let client = if self.proxies.is_exempt(request.uri()) { clients.direct } else { clients.client };
        send(client, request).await
    }
}

fn with_tls(connect_timeout: Duration, exempts_none: bool) -> Result<ClientsWithTls, BoxError> {
    check_certificates()?;
    let builder = || {
        ::reqwest::Client::builder()
            .redirect(::reqwest::redirect::Policy::none())
            .connect_timeout(connect_timeout)
            .tcp_nodelay(true)
    };
    let client = builder().build()?;
    let direct = if exempts_none { client.clone() } else { builder().no_proxy().build()? };
    Ok(ClientsWithTls { client, direct })
}

async fn send(client: ::reqwest::Client, request: Request<Bytes>) -> Result<Response<Body>, BoxError> {
    // Errors are shown and logged, and a URL may hold a secret.
    let sent = client.execute(request.try_into()?).await;
    let mut answer = sent.map_err(::reqwest::Error::without_url)?;
    let mut response = Response::new(());
    *response.status_mut() = answer.status();
    *response.headers_mut() = std::mem::take(answer.headers_mut());
    Ok(response.map(|()| answer.bytes_stream().map_err(|error| error.without_url().into()).boxed()))
}
