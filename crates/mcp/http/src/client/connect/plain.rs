//! Sends `http` requests that need no TLS and no proxy with hyper's client, because that is faster than `reqwest`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body_util::{BodyDataStream, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::client::connect::proxies::Proxies;
use crate::client::{Body, BoxError};

/// How long an unused connection stays open: as long as `reqwest` keeps one.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// HTTP/1.1 without TLS and proxy, as for most servers on the same machine, by hyper's client: it takes three fifths of
/// `reqwest`'s time.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    client: Client<HttpConnector, Full<Bytes>>,
    proxies: Arc<Proxies>,
}

impl Plain {
    pub(crate) fn new(connect_timeout: Duration, proxies: Arc<Proxies>) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(connect_timeout));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector);
        Self { client, proxies }
    }

    /// Whether it can send to this URL: `http`, without a proxy, and without a password in it.
    pub(crate) fn reaches(&self, url: &Uri) -> bool {
        url.scheme() == Some(&Scheme::HTTP)
            && url.authority().is_some_and(|authority| !authority.as_str().contains('@'))
            && self.proxies.intercept(url).is_none()
    }

    pub(crate) async fn send(self, request: Request<Bytes>) -> Result<Response<Body>, BoxError> {
        let response = self.client.request(request.map(Full::new)).await?;
        Ok(response.map(|body| BodyDataStream::new(body).map_err(BoxError::from).boxed()))
    }
}

#[cfg(test)]
mod tests {
    use hyper_util::client::proxy::matcher::Matcher;

    use super::*;

    #[test]
    fn plain_urls_are_requested_directly() {
        let reaches = |proxies: Proxies, url: &str| {
            Plain::new(IDLE_TIMEOUT, Arc::new(proxies)).reaches(&url.parse().unwrap())
        };
        let none = || Proxies::new(Matcher::builder().build(), "");
        assert!(reaches(none(), "http://127.0.0.1:8080/mcp") && reaches(none(), "http://[::1]/"));
        assert!(!reaches(none(), "https://127.0.0.1/") && !reaches(none(), "http://user:secret@127.0.0.1/"));
        let proxy = || Matcher::builder().http("http://proxy:1").build();
        let proxied = || Proxies::new(proxy(), "localhost,10.0.0.0/8");
        assert!(!reaches(proxied(), "http://127.0.0.1/"), "nothing is exempt by itself");
        assert!(reaches(proxied(), "http://localhost/") && reaches(proxied(), "http://10.1.2.3/"));
    }
}
