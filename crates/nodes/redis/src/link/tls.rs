//! TLS to the engine: certificates, and the cryptography of the process.

use redis::{ClientTlsConfig, TlsCertificates};

/// Certificates in PEM.
#[derive(Clone, Default)]
pub(crate) struct Certificates {
    /// Those that vouch for the engine. None for the platform's.
    pub(crate) roots: Option<Vec<u8>>,
    /// That of the client, and its key.
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

/// Chooses `ring` for the process where it has chosen no cryptography: `redis` has no way to be given one, and rustls panics where
/// several are built in and none was chosen.
pub(crate) fn choose_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have chosen one since, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
