//! A key with its id, and the form of sealed text.

use crate::cipher::{KEY, NONCE, SealError, TAG};
#[cfg(all(feature = "chacha20poly1305", not(feature = "ring")))]
use crate::pure::{decrypt, encrypt};
#[cfg(feature = "ring")]
use crate::with_ring::{decrypt, encrypt};

/// The length of a key's id, in bytes.
const ID: usize = 4;

/// The version of the form of sealed text.
const FORM: u8 = 1;

/// The nonce for the id of a key. A random nonce equals it once in 2^192.
const ID_NONCE: [u8; NONCE] = [0; NONCE];

/// A key with its id. It has no `Debug`, so that it is not shown.
#[derive(Clone)]
pub(crate) struct Key {
    bytes: [u8; KEY],
    id: [u8; ID],
}

impl Key {
    /// Makes a key. Its id is the beginning of the tag of a fixed text, which reveals nothing about the key.
    pub(crate) fn new(bytes: [u8; KEY]) -> Self {
        let tag = encrypt(&bytes, &ID_NONCE, b"agentwire key id", &mut []).unwrap_or_default();
        let mut id = [0; ID];
        id.copy_from_slice(&tag[..ID]);
        Self { bytes, id }
    }

    pub(crate) fn is(&self, bytes: &[u8; KEY]) -> bool {
        // Only keys that the operator has set are compared, so this need not run in constant time.
        self.bytes == *bytes
    }

    /// Returns the form, the id, the nonce, the tag and the encrypted text. The form and the id are authenticated with `about`.
    pub(crate) fn seal(&self, about: &[u8], mut text: Vec<u8>) -> Result<Vec<u8>, SealError> {
        let nonce = random()?;
        let tag = encrypt(&self.bytes, &nonce, &self.bound(about), &mut text)?;
        Ok([&[FORM], &self.id[..], &nonce[..], &tag[..], &text[..]].concat())
    }

    /// Opens a text that this key has sealed with the same `about`. `None` for any other.
    pub(crate) fn open(&self, about: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (form, rest) = sealed.split_first()?;
        let (id, rest) = rest.split_first_chunk::<ID>()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE>()?;
        let (tag, text) = rest.split_first_chunk::<TAG>()?;
        if *form != FORM || *id != self.id {
            return None;
        }
        let mut text = text.to_vec();
        decrypt(&self.bytes, nonce, &self.bound(about), tag, &mut text)?;
        Some(text)
    }

    /// The associated data of the cipher: the form, the id and `about`.
    fn bound(&self, about: &[u8]) -> Vec<u8> {
        [&[FORM], &self.id[..], about].concat()
    }
}

/// Random bytes from the operating system.
pub(crate) fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], SealError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|_| SealError("the system has no randomness"))?;
    Ok(bytes)
}

/// Fails: no cipher is built in.
#[cfg(not(any(feature = "chacha20poly1305", feature = "ring")))]
fn encrypt(_: &[u8; KEY], _: &[u8; NONCE], _: &[u8], _: &mut [u8]) -> Result<[u8; TAG], SealError> {
    Err(SealError("the program is built without the features `chacha20poly1305` and `ring`"))
}

/// Fails: no cipher is built in.
#[cfg(not(any(feature = "chacha20poly1305", feature = "ring")))]
fn decrypt(_: &[u8; KEY], _: &[u8; NONCE], _: &[u8], _: &[u8; TAG], _: &mut [u8]) -> Option<()> {
    None
}

#[cfg(all(test, feature = "chacha20poly1305", feature = "ring"))]
mod tests {
    use super::*;
    use crate::{pure, with_ring};

    #[test]
    fn ciphers_open_the_texts_of_each_other() {
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
