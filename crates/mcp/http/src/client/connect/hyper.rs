//! Implements `HttpClient` with hyper's pooled client, rustls, gzip and the proxies of the environment.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryFutureExt, TryStreamExt};
use http::header::PROXY_AUTHORIZATION;
use http::uri::Scheme;
use http::{Request, Response};
use http_body_util::{BodyDataStream, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;

use crate::client::connect::connector::{Connector, Trust};
use crate::client::connect::proxies::Proxies;
use crate::client::exchange::inflate;
use crate::client::{Body, BoxError, HttpClient, HttpClientError};

/// How long an unused connection stays open.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// [`HttpClient`] by hyper: HTTP/1.1 with connections that are kept, HTTP/2 with the feature `http2`, and TLS by rustls.
///
/// It runs on tokio. A clone shares its connections.
///
/// It takes answers that are compressed by gzip, and sends `Accept-Encoding`, unless
/// [`Config::header`](crate::client::Config::header) sets that header. The limits of the transport count decompressed bytes.
///
/// # Proxies
///
/// The environment may name a proxy: `HTTPS_PROXY` for `https` URLs, `HTTP_PROXY` for `http` URLs (not where
/// `REQUEST_METHOD` is set, as in a CGI program, whose caller could set it), `ALL_PROXY` for both, each also in lower
/// case. It is read once, in [`new`](Self::new). Nothing is exempt by default: to reach a server on this machine
/// directly, `NO_PROXY` must contain `localhost` and `127.0.0.1`.
///
/// `NO_PROXY` lists what is reached directly, with commas or spaces between the entries, in upper or lower case:
///
/// | entry | exempts |
/// |---|---|
/// | `example.com`, `.example.com` | the host and its subdomains |
/// | `*.example.com`, `10.*`, `*` | the hosts that fit, where `*` stands for any text |
/// | `10.0.0.1`, `::1`, `[::1]` | the address |
/// | `10.0.0.0/8`, `fd00::/8` | the addresses of the network |
/// | `example.com:8443`, `10.0.0.1:80`, `[::1]:80` | the same at this port alone |
///
/// # User agent
///
/// None is sent. [`Config::header`](crate::client::Config::header) sets one, as any other header.
///
/// # Cryptography
///
/// The feature `rustls` brings the provider aws-lc, `rustls-ring` brings `ring`, and `rustls-no-provider` none. A provider that
/// the program has installed by [`install_default`](rustls::crypto::CryptoProvider::install_default) is used before both, and
/// aws-lc before `ring`.
///
/// `ring` takes less time to build and makes a smaller program. It lacks the post-quantum key exchange X25519MLKEM768, and
/// signatures by keys on the curve P-521.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_transport_http::client::{Config, Hyper};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let http = Hyper::new(Duration::from_secs(10))?; // for as many servers as there are
/// let server = Config::new("https://example.com/mcp")?.open_with(http);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Hyper {
    client: Client<Connector, Full<Bytes>>,
    proxies: Arc<Proxies>,
}

impl Hyper {
    /// A client that waits `connect_timeout` for a connection, TLS and proxies included, and trusts the platform's root
    /// certificates.
    ///
    /// The certificates are read at the first connection with TLS, on a thread that may block and within
    /// `connect_timeout`. On Unix systems other than Apple's, `SSL_CERT_FILE` and `SSL_CERT_DIR` name others. Where
    /// these cannot be used, such a connection fails with a [`CertificateError`](crate::client::CertificateError).
    ///
    /// # Errors
    ///
    /// When there is no provider of cryptography.
    pub fn new(connect_timeout: Duration) -> Result<Self, HttpClientError> {
        let trust = Trust::platform().map_err(HttpClientError::new)?;
        Ok(Self::through(Proxies::from_environment(), connect_timeout, trust))
    }

    /// The same with your own TLS settings, such as other root certificates. Their ALPN protocols are ignored.
    pub fn with_tls(connect_timeout: Duration, tls: ClientConfig) -> Self {
        Self::through(Proxies::from_environment(), connect_timeout, Trust::Given(Box::new(tls)))
    }

    pub(crate) fn through(proxies: Proxies, connect_timeout: Duration, trust: Trust) -> Self {
        let proxies = Arc::new(proxies);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(Connector::new(proxies.clone(), connect_timeout, trust));
        Self { client, proxies }
    }
}

impl HttpClient for Hyper {
    fn send(&self, mut request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        inflate::offer(request.headers_mut());
        // For an https URL the connector sends the credentials in the CONNECT request of the tunnel.
        if request.uri().scheme() == Some(&Scheme::HTTP)
            && let Some(proxy) = self.proxies.intercept(request.uri())
            && let Some(authorization) = proxy.basic_auth()
        {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        send(self.client.clone(), request).map_ok(inflate::inflated).boxed()
    }
}

async fn send(
    client: Client<Connector, Full<Bytes>>,
    request: Request<Bytes>,
) -> Result<Response<Body>, BoxError> {
    let response = client.request(request.map(Full::new)).await?;
    Ok(response.map(|body| BodyDataStream::new(body).map_err(BoxError::from).boxed()))
}

#[cfg(all(test, any(feature = "rustls", feature = "rustls-ring")))]
mod tests {
    use hyper_util::client::proxy::matcher::Matcher;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    const TIME: Duration = Duration::from_secs(10);

    /// The first request that a proxy gets, and its connection.
    async fn head(proxy: &TcpListener) -> (String, TcpStream) {
        let (mut stream, _) = proxy.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        (String::from_utf8(head).unwrap(), stream)
    }

    async fn proxied() -> (TcpListener, Hyper) {
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://user:secret@{}", proxy.local_addr().unwrap());
        let proxies = Matcher::builder().all(url).build();
        (proxy, Hyper::through(Proxies::new(proxies, ""), TIME, Trust::platform().unwrap()))
    }

    fn get(url: &str) -> Request<Bytes> {
        Request::get(url).body(Bytes::new()).unwrap()
    }

    #[tokio::test]
    async fn proxy_receives_the_whole_url_and_the_credentials() {
        let (proxy, client) = proxied().await;
        let sending = tokio::spawn(client.send(get("http://server.test/mcp?a=1")));
        let (head, mut stream) = head(&proxy).await;
        assert!(head.starts_with("GET http://server.test/mcp?a=1 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("proxy-authorization: Basic dXNlcjpzZWNyZXQ=\r\n"), "{head}");
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
        let response = sending.await.unwrap().unwrap();
        let body: Vec<Bytes> = response.into_body().try_collect().await.unwrap();
        assert_eq!(body.concat(), b"hi");
    }

    #[tokio::test]
    async fn proxy_tunnels_tls_for_an_https_url() {
        let (proxy, client) = proxied().await;
        let sending = tokio::spawn(client.send(get("https://server.test/mcp")));
        let (head, mut stream) = head(&proxy).await;
        assert!(head.starts_with("CONNECT server.test:443 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"), "{head}");
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), 0x16, "a handshake of TLS");
        drop(stream);
        assert!(sending.await.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_connection_that_is_not_made_in_time_is_an_error() {
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", proxy.local_addr().unwrap());
        let proxies = Matcher::builder().all(url).build();
        let time = Duration::from_millis(50);
        let client = Hyper::through(Proxies::new(proxies, ""), time, Trust::platform().unwrap());
        // The tunnel is never granted.
        let sent = client.send(get("https://server.test/mcp")).await;
        assert!(format!("{:?}", sent.err().unwrap()).contains("no connection in time"));
    }
}
