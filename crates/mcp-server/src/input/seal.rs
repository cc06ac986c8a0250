//! Encrypts text with the server's key, bound to further data.

use std::sync::{Arc, OnceLock};

/// A key, made when it is first needed, which clones share.
#[derive(Clone, Default)]
pub(crate) struct Seal(Arc<OnceLock<[u8; 32]>>);

/// Why nothing can be sealed.
#[derive(Debug, thiserror::Error)]
#[error("no `requestState` can be made: {0}")]
pub(crate) struct Unsealed(&'static str);

impl Seal {
    pub(crate) fn with(key: [u8; 32]) -> Self {
        Self(Arc::new(OnceLock::from(key)))
    }
}

/// XChaCha20-Poly1305: its nonces are long enough to be made by chance, however many machines share a key.
mod sealed {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use chacha20poly1305::aead::AeadInOut;
    use chacha20poly1305::aead::inout::InOutBuf;
    use chacha20poly1305::{KeyInit, Tag, XChaCha20Poly1305, XNonce};

    use super::{Seal, Unsealed};

    const NONCE: usize = 24;
    const TAG: usize = 16;

    impl Seal {
        /// Encrypts what is only to be opened with the same `about`.
        pub(crate) fn close(&self, about: &[u8], mut text: Vec<u8>) -> Result<String, Unsealed> {
            let mut nonce = [0; NONCE];
            getrandom::fill(&mut nonce).map_err(|_| Unsealed("the system has no randomness"))?;
            let nonce = XNonce::from(nonce);
            let tag = self
                .cipher()?
                .encrypt_inout_detached(&nonce, about, InOutBuf::from(&mut text[..]))
                .map_err(|_| Unsealed("it is too long"))?;
            Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &tag[..], &text[..]].concat()))
        }

        /// Gives what was sealed with that `about`; none for anything else.
        pub(crate) fn open(&self, about: &[u8], sealed: &str) -> Option<Vec<u8>> {
            let mut text = URL_SAFE_NO_PAD.decode(sealed).ok()?;
            let (nonce, rest) = text.split_first_chunk_mut::<NONCE>()?;
            let (tag, rest) = rest.split_first_chunk_mut::<TAG>()?;
            let (nonce, tag) = (XNonce::from(*nonce), Tag::from(*tag));
            let cipher = self.cipher().ok()?;
            cipher.decrypt_inout_detached(&nonce, about, InOutBuf::from(rest), &tag).ok()?;
            text.drain(..NONCE + TAG);
            Some(text)
        }

        fn cipher(&self) -> Result<XChaCha20Poly1305, Unsealed> {
            let key = match self.0.get() {
                Some(key) => key,
                None => {
                    let mut key = [0; 32];
                    getrandom::fill(&mut key).map_err(|_| Unsealed("the system has no randomness"))?;
                    self.0.get_or_init(|| key)
                }
            };
            Ok(XChaCha20Poly1305::new(&(*key).into()))
        }
    }
}
