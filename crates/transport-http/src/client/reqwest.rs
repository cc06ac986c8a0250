//! Implements `HttpClient` with `reqwest` and gzip. Plain `http` requests without a proxy go to hyper directly.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryFutureExt, TryStreamExt};
use http::{Request, Response};

use crate::client::certificates::check_certificates;
use crate::client::plain::Plain;
use crate::client::proxies::Proxies;
use crate::client::{Body, BoxError, HttpClient, HttpClientError, inflate};

/// [`HttpClient`] by `reqwest`: HTTP/1.1 and HTTP/2 with connections that are kept, and TLS by rustls.
///
/// It runs on tokio. A clone shares its connections.
///
/// Compression, proxies and the user agent are as described at `Hyper`, the client without `reqwest`. Plain `http` requests
/// without a proxy go to hyper directly.
#[derive(Clone, Debug)]
pub struct Reqwest {
    client: ::reqwest::Client,
    own: Option<OwnSettings>,
}

/// What a client adds that is built here.
#[derive(Clone, Debug)]
struct OwnSettings {
    plain: Plain,
    proxies: Arc<Proxies>,
    /// For URLs that `NO_PROXY` exempts: `reqwest` does not know each form of it.
    direct: ::reqwest::Client,
}

impl Reqwest {
    /// A client that follows no redirect and waits `connect_timeout` for a connection.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up. A [`CertificateError`](crate::client::CertificateError) says that `SSL_CERT_FILE` or
    /// `SSL_CERT_DIR` names no certificates.
    pub fn new(connect_timeout: Duration) -> Result<Self, HttpClientError> {
        check_certificates().map_err(HttpClientError::new)?;
        let builder = || {
            ::reqwest::Client::builder()
                .redirect(::reqwest::redirect::Policy::none())
                .connect_timeout(connect_timeout)
                .tcp_nodelay(true)
        };
        let build = |builder: ::reqwest::ClientBuilder| builder.build().map_err(HttpClientError::new);
        let client = build(builder())?;
        let proxies = Arc::new(Proxies::from_environment());
        let direct = if proxies.exempts_none() { client.clone() } else { build(builder().no_proxy())? };
        let plain = Plain::new(connect_timeout, proxies.clone());
        Ok(Self { client, own: Some(OwnSettings { plain, proxies, direct }) })
    }
}

/// Takes a client with settings of its own. It must follow no redirects: `reqwest` would send the headers of
/// this protocol along to wherever it is sent.
impl From<::reqwest::Client> for Reqwest {
    fn from(client: ::reqwest::Client) -> Self {
        Self { client, own: None }
    }
}

impl HttpClient for Reqwest {
    fn send(&self, mut request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        inflate::offer(request.headers_mut());
        match &self.own {
            Some(own) if own.plain.reaches(request.uri()) => {
                own.plain.clone().send(request).map_ok(inflate::inflated).boxed()
            }
            Some(own) if own.proxies.is_exempt(request.uri()) => {
                send(own.direct.clone(), request).map_ok(inflate::inflated).boxed()
            }
            _ => send(self.client.clone(), request).map_ok(inflate::inflated).boxed(),
        }
    }
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
