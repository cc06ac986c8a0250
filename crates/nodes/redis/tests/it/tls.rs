//! An engine that speaks TLS.

use std::{fs, iter};

use agentwire_mcp_redis::{ConnectError, RedisConfig, RedisStore};
use agentwire_store::StoreError;
use agentwire_test_support::free_port;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use tempfile::TempDir;

use crate::engine::{Engine, until};
use crate::{bus, events, records};

struct Certificate {
    pem: String,
    key: String,
}

impl Certificate {
    fn named(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let (pem, key) = (made.cert.der().to_vec(), made.signing_key.serialize_der());
        Self { pem: encode("CERTIFICATE", &pem), key: encode("PRIVATE KEY", &key) }
    }
}

/// Encodes data as PEM.
fn encode(label: &str, data: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(data);
    let lines = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap());
    let begin = format!("-----BEGIN {label}-----");
    let end = format!("-----END {label}-----\n");
    iter::once(&*begin).chain(lines).chain([&*end]).collect::<Vec<_>>().join("\n")
}

/// Starts an engine with a certificate for 127.0.0.1, on a TLS port in addition to the plain port.
async fn engine(own: &Certificate, clients: &Certificate, arguments: &[&str]) -> (Engine, u16, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (certificate, key) = (write("own.pem", &own.pem), write("key.pem", &own.key));
    let (clients, port) = (write("clients.pem", &clients.pem), free_port());
    let text = port.to_string();
    let tls = ["--tls-port", &text, "--tls-cert-file", &certificate, "--tls-key-file", &key];
    let engine = Engine::with(&[&tls[..], &["--tls-ca-cert-file", &clients], arguments].concat()).await;
    (engine, port, folder)
}

fn config(port: u16) -> RedisConfig {
    RedisConfig::new(format!("rediss://127.0.0.1:{port}")).prefix("test")
}

fn is_refused(result: &Result<RedisStore, ConnectError>) -> bool {
    matches!(result, Err(ConnectError::Store(StoreError::Away(_))))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn engine_is_authenticated_by_its_certificate() {
    let [own, other] = ["127.0.0.1", "127.0.0.1"].map(Certificate::named);
    let (mut engine, port, _files) = engine(&own, &other, &["--tls-auth-clients", "no"]).await;
    let trusting = config(port).root_certificates(own.pem.clone());
    let stores = [(); 2].map(|()| RedisStore::connect(trusting.clone()));
    let [one, two] = futures::future::try_join_all(stores).await.unwrap().try_into().unwrap();
    events::check(&one, &two).await;
    records::check(&one, &two).await;
    bus::check(&one, &two).await;

    for config in [config(port), config(port).root_certificates(other.pem.clone())] {
        let refused = RedisStore::connect(config).await;
        assert!(is_refused(&refused), "{refused:?}");
    }
    let by_name = RedisConfig::new(format!("rediss://localhost:{port}")).root_certificates(own.pem);
    let refused = RedisStore::connect(by_name).await;
    assert!(is_refused(&refused), "the certificate is for another name: {refused:?}");
    let text = RedisStore::connect(RedisConfig::new(format!("redis://127.0.0.1:{port}"))).await;
    assert!(is_refused(&text), "it speaks nothing but TLS there: {text:?}");

    engine.kill();
    engine.restart().await;
    until(async || agentwire_store::Nodes::check(&one).await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn clients_are_authenticated_by_their_certificates() {
    let [own, client, other] = ["127.0.0.1", "client", "other"].map(Certificate::named);
    let (_engine, port, _files) = engine(&own, &client, &["--tls-auth-clients", "yes"]).await;
    let trusting = || config(port).root_certificates(own.pem.clone());
    let known = trusting().client_certificate(client.pem.clone(), client.key.clone());
    let shown = format!("{known:?}");
    assert!(!shown.contains("BEGIN"), "{shown}");
    let store = RedisStore::connect(known).await.unwrap();
    agentwire_store::Nodes::check(&store).await.unwrap();
    for config in [trusting(), trusting().client_certificate(other.pem.clone(), other.key.clone())] {
        let refused = RedisStore::connect(config).await;
        assert!(is_refused(&refused), "{refused:?}");
    }
    let broken = trusting().client_certificate("no certificate", "no key");
    let refused = RedisStore::connect(broken).await;
    assert!(matches!(refused, Err(ConnectError::Address(_))), "{refused:?}");
}
