use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use http::{Request, Response};

use crate::client::{Body, BoxError, HttpClient};

/// [`HttpClient`] by `reqwest`: HTTP/1.1 and HTTP/2 with connections that are kept, and TLS by rustls.
///
/// It uses the proxy that the environment names (`HTTPS_PROXY`, `NO_PROXY` and so on). It runs on tokio.
#[derive(Clone, Debug)]
pub struct Reqwest(::reqwest::Client);

impl Reqwest {
    /// A client that follows no redirect and waits `connect_timeout` for a connection.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up.
    pub fn new(connect_timeout: Duration) -> Result<Self, BoxError> {
        let client = ::reqwest::Client::builder()
            .redirect(::reqwest::redirect::Policy::none())
            .connect_timeout(connect_timeout)
            .tcp_nodelay(true)
            .build()?;
        Ok(Self(client))
    }
}

/// Takes a client with settings of its own. It must follow no redirects: `reqwest` would send the headers of
/// this protocol along to wherever it is sent.
impl From<::reqwest::Client> for Reqwest {
    fn from(client: ::reqwest::Client) -> Self {
        Self(client)
    }
}

impl HttpClient for Reqwest {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let client = self.0.clone();
        async move {
            // Errors are shown and logged, and a URL may hold a secret.
            let sent = client.execute(request.try_into()?).await;
            let mut answer = sent.map_err(::reqwest::Error::without_url)?;
            let mut response = Response::new(());
            *response.status_mut() = answer.status();
            *response.headers_mut() = std::mem::take(answer.headers_mut());
            Ok(response.map(|()| answer.bytes_stream().map_err(|error| error.without_url().into()).boxed()))
        }
        .boxed()
    }
}
