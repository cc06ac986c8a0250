//! Connections to a program under test: TCP, with TLS on top for https.

use std::sync::Arc;
use std::time::Duration;

use http::{Uri, Version};
use hyper_rustls::ConfigBuilderExt;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long a connection may take.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Bytes in both directions.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Connects to the host of a URL for a version of HTTP, which TLS offers by ALPN.
pub(crate) async fn connect(url: &Uri, version: Version) -> Result<Box<dyn Duplex>, String> {
    match tokio::time::timeout(CONNECT_TIME, open(url, version)).await {
        Ok(opened) => opened.map_err(|why| format!("connecting failed: {why}")),
        Err(_) => Err(format!("connecting took more than {} s", CONNECT_TIME.as_secs())),
    }
}

async fn open(url: &Uri, version: Version) -> Result<Box<dyn Duplex>, String> {
    let host = url.host().unwrap_or_default();
    let secure = url.scheme_str() == Some("https");
    let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
    // A literal address of IPv6 stands in brackets in a URL only.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
    // A delayed segment would look like a slow server.
    let _set = stream.set_nodelay(true);
    if secure { encrypt(host, stream, version).await } else { Ok(Box::new(stream)) }
}

async fn encrypt(host: &str, stream: TcpStream, version: Version) -> Result<Box<dyn Duplex>, String> {
    // Named in full, because rustls panics where several providers are built in and none was chosen.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(ConfigBuilderExt::try_with_platform_verifier)
        .map_err(|error| error.to_string())?
        .with_no_client_auth();
    let is_http2 = version == Version::HTTP_2;
    config.alpn_protocols = vec![if is_http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    let connector = TlsConnector::from(Arc::new(config));
    let stream = connector.connect(name, stream).await.map_err(|error| error.to_string())?;
    if is_http2 && stream.get_ref().1.alpn_protocol() != Some(b"h2") {
        return Err("the server does not choose `h2` by ALPN".to_owned());
    }
    Ok(Box::new(stream))
}
