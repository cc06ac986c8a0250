//! TLS to the engine: certificates, and the crypto provider of the process.

use redis::{ClientTlsConfig, TlsCertificates};

/// Certificates in PEM.
#[derive(Clone, Default)]
pub(crate) struct Certificates {
    /// The root certificates. `None` for those of the platform.
    pub(crate) roots: Option<Vec<u8>>,
    /// The certificate of the client, and its key.
    pub(crate) client: Option<(Vec<u8>, Vec<u8>)>,
}

impl Certificates {
    pub(crate) fn get(&self) -> TlsCertificates {
        let client = self.client.clone();
        TlsCertificates {
            client_tls: client.map(|(client_cert, client_key)| ClientTlsConfig { client_cert, client_key }),
            root_cert: self.roots.clone(),
        }
    }
}

/// Installs `ring` as the crypto provider of the process if none is installed. `redis` cannot be given one, and rustls panics if
/// several are built in and none was installed.
pub(crate) fn choose_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have installed one since, which serves too.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
