//! Sealed texts.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The beginning of each sealed text. Another version would begin with another number.
const PREFIX: &str = "1.";

/// How many bytes a key has.
const KEY_LEN: usize = 32;

/// A key that seals texts with AES-256-GCM.
pub(crate) struct Key(LessSafeKey);

/// A key or a text that cannot be made or read.
#[derive(Debug)]
pub(crate) struct Unusable;

impl Key {
    /// Returns a new key as text, for the keyring.
    pub(crate) fn generate() -> Result<String, Unusable> {
        let mut bytes = [0; KEY_LEN];
        SystemRandom::new().fill(&mut bytes).map_err(|_| Unusable)?;
        Ok(BASE64.encode(bytes))
    }

    /// Reads a key from the keyring's text.
    pub(crate) fn read(text: &str) -> Result<Self, Unusable> {
        let bytes = BASE64.decode(text).map_err(|_| Unusable)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| Unusable)?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Seals a text for a name: it cannot be opened for another one.
    pub(crate) fn seal(&self, name: &str, text: &str) -> Result<String, Unusable> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| Unusable)?;
        let mut sealed = text.as_bytes().to_vec();
        let bound = (Nonce::assume_unique_for_key(nonce), Aad::from(name.as_bytes()));
        self.0.seal_in_place_append_tag(bound.0, bound.1, &mut sealed).map_err(|_| Unusable)?;
        Ok(format!("{PREFIX}{}", BASE64.encode([&nonce[..], &sealed].concat())))
    }

    /// Opens a text that was sealed for this name with this key.
    pub(crate) fn open(&self, name: &str, sealed: &str) -> Result<String, Unusable> {
        let mut bytes =
            sealed.strip_prefix(PREFIX).and_then(|text| BASE64.decode(text).ok()).ok_or(Unusable)?;
        let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN).ok_or(Unusable)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Unusable)?;
        let text = self.0.open_in_place(nonce, Aad::from(name.as_bytes()), sealed).map_err(|_| Unusable)?;
        String::from_utf8(text.to_vec()).map_err(|_| Unusable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::read(&Key::generate().unwrap()).unwrap()
    }

    #[test]
    fn a_text_is_opened_with_its_key_and_name_only() {
        let (one, other) = (key(), key());
        for text in ["", "hunter2", "é"] {
            let sealed = one.seal("a", text).unwrap();
            assert_eq!(one.open("a", &sealed).unwrap(), text);
            assert!(one.open("b", &sealed).is_err());
            assert!(other.open("a", &sealed).is_err());
            assert_ne!(one.seal("a", text).unwrap(), sealed, "a nonce is used once");
        }
    }

    #[test]
    fn a_changed_text_is_not_opened() {
        let key = key();
        let sealed = key.seal("a", "hunter2").unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(key.open("a", &String::from_utf8(changed).unwrap()).is_err(), "{at}");
            assert!(key.open("a", &sealed[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn a_key_has_32_bytes() {
        for text in ["", "AAAA", "not base64", &"A".repeat(44)] {
            assert!(Key::read(text).is_err(), "{text}");
        }
    }
}
