//! `Hyper` with TLS: a server with a certificate of its own, and roots that know it.

use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_transport_http::client::{Config, ConnectFault, HttpError, Hyper};
use bytes::Bytes;
use http::{Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::mock::{Client, Received, ok, patiently, result};

/// A server that is known by one name, and what it is known by.
struct Server {
    listener: TcpListener,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Server {
    async fn named(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        Self { listener, certificate: made.cert.der().clone(), key }
    }

    /// A client that trusts the owner of these certificates.
    fn client(&self, trusted: &[&CertificateDer<'static>]) -> Client {
        let mut roots = RootCertStore::empty();
        trusted.iter().for_each(|certificate| roots.add((*certificate).clone()).unwrap());
        let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let tls = tls.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        let hyper = Hyper::with_tls(Duration::from_secs(10), tls.with_no_client_auth());
        let url = format!("https://127.0.0.1:{}/mcp", self.listener.local_addr().unwrap().port());
        Client::new(Config::new(&url).unwrap().open_with(hyper))
    }

    /// The next connection; `Err` where the client did not want it.
    async fn accept(&self, protocol: &str) -> std::io::Result<TlsStream<TcpStream>> {
        let tls = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let tls = tls.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let mut tls = tls.with_single_cert(vec![self.certificate.clone()], self.key.clone_key()).unwrap();
        tls.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let (stream, _) = patiently(self.listener.accept()).await.unwrap();
        patiently(TlsAcceptor::from(Arc::new(tls)).accept(stream)).await
    }
}

#[tokio::test]
async fn a_server_is_trusted_by_roots_of_ones_own() {
    let server = Server::named("127.0.0.1").await;
    let mut client = server.client(&[&server.certificate]);
    client.call(1);
    let stream = server.accept("http/1.1").await.unwrap();
    let request = Received::read(stream).await;
    assert_eq!((request.method(), request.path()), ("POST", "/mcp"));
    request.finish(&ok("", &result(1))).await;
    assert_eq!(client.frame().await, result(1));
}

#[tokio::test]
async fn refused_certificate_is_reported_with_the_reason() {
    let (server, other) = (Server::named("127.0.0.1").await, Server::named("elsewhere.test").await);
    let misnamed = Server { listener: TcpListener::bind("127.0.0.1:0").await.unwrap(), ..other };
    for (server, trusted, reason, fault) in [
        (&server, &[][..], "UnknownIssuer", ConnectFault::UnknownIssuer),
        (&misnamed, &[&misnamed.certificate][..], "not valid for name", ConnectFault::OtherName),
    ] {
        let mut client = server.client(trusted);
        client.call(1);
        assert!(server.accept("http/1.1").await.is_err());
        let said = |error: &HttpError| {
            assert!(matches!(error, HttpError::Unsent(_)), "{error:?}");
            let text = WithCauses::new(error).to_string();
            assert!(text.contains("invalid peer certificate") && text.contains(reason), "{text}");
            assert_eq!(text.matches("invalid peer certificate").count(), 1, "{text}");
            assert_eq!(error.connect_fault(), Some(fault));
        };
        client.failed(1, said).await;
    }
}

/// The fault of a request to a URL at which these bytes are the answer. Without any, nothing listens.
async fn fault(scheme: &str, answer: Option<&'static [u8]>) -> Option<ConnectFault> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("{scheme}://{}/mcp", listener.local_addr().unwrap());
    let hyper = Hyper::new(Duration::from_secs(10)).unwrap();
    let mut client = Client::new(Config::new(&url).unwrap().open_with(hyper));
    let Some(answer) = answer else {
        drop(listener);
        client.call(1);
        let mut fault = None;
        client.failed(1, |error| fault = error.connect_fault()).await;
        return fault;
    };
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(answer).await.unwrap();
        // The request is read, so that closing does not cut the answer off.
        while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
    });
    client.call(1);
    let mut fault = None;
    client.failed(1, |error| fault = error.connect_fault()).await;
    serving.abort();
    fault
}

#[tokio::test]
async fn a_fault_of_a_connection_is_known_by_its_kind() {
    assert_eq!(fault("http", None).await, Some(ConnectFault::Refused));
    assert_eq!(fault("https", None).await, Some(ConnectFault::Refused));
    let http = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(fault("https", Some(http)).await, Some(ConnectFault::NoTls));
    // The alert that a server of TLS answers with.
    assert_eq!(fault("http", Some(b"\x15\x03\x01\x00\x02\x02\x46")).await, Some(ConnectFault::NoHttp));
}

/// Answers each request on a connection of HTTP/2, until so many were; then it sends GOAWAY.
async fn serve(stream: TlsStream<TcpStream>, calls: usize) {
    let (done, mut leaves) = tokio::sync::mpsc::channel::<()>(calls);
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let done = done.clone();
        async move {
            assert_eq!(request.version(), Version::HTTP_2);
            let call: Value = serde_json::from_slice(&request.collect().await?.to_bytes()).unwrap();
            done.send(()).await.unwrap();
            let body = Full::new(Bytes::from(result(call["id"].as_u64().unwrap()).to_string()));
            let response = Response::builder().header("content-type", "application/json").body(body);
            Ok::<_, hyper::Error>(response.unwrap())
        }
    });
    let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    let mut connection = std::pin::pin!(server.serve_connection(TokioIo::new(stream), answer));
    for _ in 0..calls {
        tokio::select! {
            ended = &mut connection => return ended.unwrap(),
            said = leaves.recv() => said.unwrap(),
        }
    }
    connection.as_mut().graceful_shutdown();
    // The client may close it first.
    let _ = connection.await;
}

#[tokio::test]
async fn http2_shares_a_connection_until_the_server_leaves_it() {
    let server = Server::named("127.0.0.1").await;
    let mut client = server.client(&[&server.certificate]);
    for round in 0..3_u64 {
        let calls = async {
            for id in [2 * round, 2 * round + 1] {
                client.call(id);
                assert_eq!(client.frame().await, result(id));
            }
        };
        let serving = async {
            let stream = server.accept("h2").await.unwrap();
            patiently(serve(stream, 2)).await;
        };
        futures::join!(calls, serving);
    }
}
