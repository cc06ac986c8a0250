//! The keys of a server, and their rotation.

use std::fmt;
use std::sync::Arc;

use agentwire_sync::Mutex;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::cipher::{KEY, SealError};
use crate::key::{Key, random};
use crate::text::{self, KeyTextError};

/// The keys of a server: one that seals and opens, and up to one more that only opens. Clones share them, so a rotation reaches all.
///
/// Servers that open each other's texts, such as replicas, need the same keys. The default is one random key for this process, which
/// is made when it is first needed.
#[derive(Clone, Default)]
pub struct SealingKeys(Arc<Mutex<Keys>>);

/// The length of the form, the id, the nonce and the tag as base64: 60 characters for 45 bytes.
const NAME: usize = 60;

#[derive(Clone, Default)]
struct Keys {
    /// The key that seals and opens. `None` until it is needed.
    sealing: Option<Key>,
    /// The key that only opens.
    opening: Option<Key>,
}

impl SealingKeys {
    /// Uses a single key of 32 random bytes.
    pub fn new(key: [u8; KEY]) -> Self {
        Self(Arc::new(Mutex::new(Keys { sealing: Some(Key::new(key)), opening: None })))
    }

    /// Reads keys from the text of a file or a variable. The first line is the key that seals, and an optional second line is the key
    /// that only opens. A key is 32 bytes, as 64 hexadecimal digits or as base64 of either alphabet. Empty lines and lines that begin
    /// with `#` are ignored.
    ///
    /// ```
    /// use agentwire_seal::SealingKeys;
    ///
    /// let text = "# since May\n000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
    /// let keys = SealingKeys::parse(text)?;
    /// assert_eq!(SealingKeys::parse("secret").unwrap_err().to_string(), "line 1 is not a key: it is neither 64 hexadecimal digits nor base64 of 32 bytes");
    /// # let _ = keys;
    /// # Ok::<_, agentwire_seal::KeyTextError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if a line is not a key or a guessable one, if both keys are the same, or if there are none or more than two. The error
    /// names the line, and never the key.
    pub fn parse(text: &str) -> Result<Self, KeyTextError> {
        let (sealing, opening) = text::parse(text)?;
        let keys = Keys { sealing: Some(Key::new(sealing)), opening: opening.map(Key::new) };
        Ok(Self(Arc::new(Mutex::new(keys))))
    }

    /// Seals with another key from now on. The previous sealing key still opens, and the key that only opened is dropped. Does nothing
    /// if `key` is the sealing key already.
    pub fn rotate(&self, key: [u8; KEY]) {
        let mut keys = self.0.lock();
        if keys.sealing.as_ref().is_none_or(|sealing| !sealing.is(&key)) {
            keys.opening = keys.sealing.replace(Key::new(key));
        }
    }

    /// Replaces the keys of this value and its clones with those of `others`, for example after a file was read again.
    pub fn replace(&self, others: &Self) {
        let others = others.0.lock().clone();
        *self.0.lock() = others;
    }

    /// Encrypts a text. It can be opened only with the same `about`, the associated data. Returns characters of `A-Z a-z 0-9 _ -`.
    ///
    /// # Errors
    ///
    /// Fails if the system has no randomness, no cipher is built in, or the text is longer than 256 GiB.
    pub fn seal(&self, about: &[u8], text: Vec<u8>) -> Result<String, SealError> {
        Ok(URL_SAFE_NO_PAD.encode(self.sealing()?.seal(about, text)?))
    }

    /// Opens a text that one of the keys has sealed with the same `about`. `None` for any other.
    pub fn open(&self, about: &[u8], sealed: &str) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let Keys { sealing, opening } = self.0.lock().clone();
        [sealing, opening].into_iter().flatten().find_map(|key| key.open(about, &sealed))
    }

    /// A unique name of a sealed text: its first 60 characters, which contain the random nonce. The text must have been
    /// [opened](Self::open): anyone can make a text with the name of another.
    pub fn name(sealed: &str) -> &str {
        sealed.get(..NAME).unwrap_or(sealed)
    }

    fn sealing(&self) -> Result<Key, SealError> {
        let mut keys = self.0.lock();
        Ok(match &keys.sealing {
            Some(key) => key.clone(),
            None => keys.sealing.insert(Key::new(random()?)).clone(),
        })
    }
}

/// Shows no key.
impl fmt::Debug for SealingKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealingKeys").finish_non_exhaustive()
    }
}

#[cfg(all(test, any(feature = "chacha20poly1305", feature = "ring")))]
mod tests {
    use super::*;

    fn opens(keys: &SealingKeys, sealed: &str) -> bool {
        keys.open(b"about", sealed).is_some_and(|text| text == b"text")
    }

    fn sealed(keys: &SealingKeys) -> String {
        keys.seal(b"about", b"text".to_vec()).unwrap()
    }

    #[test]
    fn current_and_previous_key_open() {
        let keys = SealingKeys::new([1; KEY]);
        let clone = keys.clone();
        let first = sealed(&keys);
        keys.rotate([2; KEY]);
        keys.rotate([2; KEY]);
        let second = sealed(&clone);
        assert!(opens(&clone, &first) && opens(&clone, &second));
        assert!(!opens(&SealingKeys::new([1; KEY]), &second) && opens(&SealingKeys::new([2; KEY]), &second));
        keys.rotate([3; KEY]);
        assert!(!opens(&clone, &first) && opens(&clone, &second));
    }

    #[test]
    fn changed_text_and_text_of_another_key_are_not_opened() {
        let keys = SealingKeys::default();
        let text = sealed(&keys);
        assert!(opens(&keys, &text) && !opens(&SealingKeys::default(), &text));
        assert_eq!(keys.open(b"other", &text), None);
        assert_ne!(sealed(&keys), text, "each text has its own nonce");
        assert_ne!(SealingKeys::name(&sealed(&keys)), SealingKeys::name(&text));
        assert_eq!(SealingKeys::name(&text).len(), 60);
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for place in 0..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 1;
            assert_eq!(keys.open(b"about", &URL_SAFE_NO_PAD.encode(other)), None, "byte {place}");
            assert_eq!(keys.open(b"about", &URL_SAFE_NO_PAD.encode(&bytes[..place])), None, "{place} bytes");
        }
    }

    #[test]
    fn processes_open_each_others_texts_during_a_rotation() {
        let key = |first: u8| (first..).take(KEY).map(|byte| format!("{byte:02x}")).collect::<String>();
        let [old, new] = [key(1), key(2)];
        let steps = [old.clone(), format!("{old}\n{new}"), format!("{new}\n{old}"), new];
        let steps = steps.map(|text| SealingKeys::parse(&text).unwrap());
        for pair in steps.windows(2) {
            assert!(opens(&pair[0], &sealed(&pair[1])) && opens(&pair[1], &sealed(&pair[0])));
        }
        let keys = SealingKeys::default();
        keys.replace(&steps[2]);
        assert!(opens(&keys, &sealed(&steps[1])) && opens(&steps[3], &sealed(&keys)));
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", SealingKeys::new([7; KEY])), "SealingKeys { .. }");
    }
}
