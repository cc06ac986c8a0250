//! Encrypts text with the server's key, bound to further data.
//!
//! XChaCha20-Poly1305: its nonces are long enough to be made by chance, however many machines share a key. The features
//! `ring` and `chacha20poly1305` choose who computes it, and what one has sealed the other opens.

use std::sync::{Arc, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

mod cipher;
#[cfg(all(feature = "chacha20poly1305", any(test, not(feature = "ring"))))]
mod pure;
#[cfg(feature = "ring")]
mod with_ring;

use cipher::{KEY, NONCE, TAG, Unsealed};
#[cfg(all(feature = "chacha20poly1305", not(feature = "ring")))]
use pure::{decrypt, encrypt};
#[cfg(feature = "ring")]
use with_ring::{decrypt, encrypt};

/// A key, made when it is first needed, which clones share.
#[derive(Clone, Default)]
pub(crate) struct Seal(Arc<OnceLock<[u8; KEY]>>);

impl Seal {
    pub(crate) fn with(key: [u8; KEY]) -> Self {
        Self(Arc::new(OnceLock::from(key)))
    }

    /// Encrypts what is only to be opened with the same `about`.
    pub(crate) fn close(&self, about: &[u8], mut text: Vec<u8>) -> Result<String, Unsealed> {
        let nonce = random()?;
        let tag = encrypt(self.key()?, &nonce, about, &mut text)?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &tag[..], &text[..]].concat()))
    }

    /// Gives what was sealed with that `about`; none for anything else.
    pub(crate) fn open(&self, about: &[u8], sealed: &str) -> Option<Vec<u8>> {
        let mut sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, rest) = sealed.split_first_chunk_mut::<NONCE>()?;
        let (tag, text) = rest.split_first_chunk_mut::<TAG>()?;
        decrypt(self.key().ok()?, nonce, about, tag, text)?;
        sealed.drain(..NONCE + TAG);
        Some(sealed)
    }

    fn key(&self) -> Result<&[u8; KEY], Unsealed> {
        match self.0.get() {
            Some(key) => Ok(key),
            None => {
                let key = random()?;
                Ok(self.0.get_or_init(|| key))
            }
        }
    }
}

fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], Unsealed> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|_| Unsealed("the system has no randomness"))?;
    Ok(bytes)
}

/// Fails: no cipher is built in.
#[cfg(not(any(feature = "chacha20poly1305", feature = "ring")))]
fn encrypt(_: &[u8; KEY], _: &[u8; NONCE], _: &[u8], _: &mut [u8]) -> Result<[u8; TAG], Unsealed> {
    Err(Unsealed("the server is built without the features `chacha20poly1305` and `ring`"))
}

/// Fails: no cipher is built in.
#[cfg(not(any(feature = "chacha20poly1305", feature = "ring")))]
fn decrypt(_: &[u8; KEY], _: &[u8; NONCE], _: &[u8], _: &[u8; TAG], _: &mut [u8]) -> Option<()> {
    None
}

#[cfg(all(test, feature = "chacha20poly1305", feature = "ring"))]
mod tests {
    use super::*;

    #[test]
    fn what_one_cipher_has_sealed_the_other_opens() {
        for length in [0, 1, 63, 64, 65, 1000] {
            let (key, nonce): ([u8; KEY], [u8; NONCE]) = (random().unwrap(), random().unwrap());
            let text: Vec<u8> = (0..length).map(|place| place as u8).collect();
            let [mut by_ring, mut by_pure] = [text.clone(), text.clone()];
            let tag = with_ring::encrypt(&key, &nonce, b"about", &mut by_ring).unwrap();
            assert_eq!(tag, pure::encrypt(&key, &nonce, b"about", &mut by_pure).unwrap());
            assert_eq!(by_ring, by_pure);
            assert_eq!(with_ring::decrypt(&key, &nonce, b"other", &tag, &mut by_ring.clone()), None);
            with_ring::decrypt(&key, &nonce, b"about", &tag, &mut by_pure).unwrap();
            pure::decrypt(&key, &nonce, b"about", &tag, &mut by_ring).unwrap();
            assert_eq!((&by_ring, &by_pure), (&text, &text));
        }
    }
}
