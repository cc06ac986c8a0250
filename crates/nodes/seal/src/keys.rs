//! The keys of a server, and their rotation.

use std::fmt;
use std::sync::Arc;

use agentwire_sync::Mutex;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::cipher::{KEY, SealError};
use crate::key::{Key, random};
use crate::text::{self, KeyTextError};

/// The keys of a server: one that seals, and up to one more that only opens. Clones share them, so a rotation reaches all.
///
/// Servers that answer for each other, such as replicas, need the same keys. The default is one key for this process, which the
/// operating system's randomness makes when it is first needed.
#[derive(Clone, Default)]
pub struct SealingKeys(Arc<Mutex<Keys>>);

/// The characters of the form, the id, the nonce and the tag, which are 45 bytes.
const NAME: usize = 60;

#[derive(Clone, Default)]
struct Keys {
    /// None until it is needed.
    sealing: Option<Key>,
    opening: Option<Key>,
}

impl SealingKeys {
    /// One key, of 32 random bytes.
    pub fn new(key: [u8; KEY]) -> Self {
        Self(Arc::new(Mutex::new(Keys { sealing: Some(Key::new(key)), opening: None })))
    }

    /// Reads the text of a file or a variable: the key that seals on the first line, and on the second the key that only opens, if
    /// there is one. A key is 32 bytes as 64 hexadecimal digits or as base64 of either alphabet. Empty lines and those that begin
    /// with `#` are passed over.
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
    /// When a line is not a key, or there are none or more than two. The error names the line, and never the key.
    pub fn parse(text: &str) -> Result<Self, KeyTextError> {
        let (sealing, opening) = text::parse(text)?;
        let keys = Keys { sealing: Some(Key::new(sealing)), opening: opening.map(Key::new) };
        Ok(Self(Arc::new(Mutex::new(keys))))
    }

    /// Seals with another key from now on. The one that has sealed so far still opens; the one that has only opened is dropped. Does
    /// nothing where that key seals already.
    pub fn rotate(&self, key: [u8; KEY]) {
        let mut keys = self.0.lock();
        if keys.sealing.as_ref().is_none_or(|sealing| !sealing.is(&key)) {
            keys.opening = keys.sealing.replace(Key::new(key));
        }
    }

    /// Takes the keys that others are now, such as of a file that was read again. Other clones of these have them too.
    pub fn replace(&self, others: &Self) {
        let others = others.0.lock().clone();
        *self.0.lock() = others;
    }

    /// Encrypts a text that is only opened with the same `about`. Returns characters of `A-Z a-z 0-9 _ -`.
    ///
    /// # Errors
    ///
    /// When the system has no randomness, the crate has no cipher, or the text has more than 256 GiB.
    pub fn seal(&self, about: &[u8], text: Vec<u8>) -> Result<String, SealError> {
        Ok(URL_SAFE_NO_PAD.encode(self.sealing()?.seal(about, text)?))
    }

    /// Opens what one of the keys has sealed with that `about`. None for anything else.
    pub fn open(&self, about: &[u8], sealed: &str) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let Keys { sealing, opening } = self.0.lock().clone();
        [sealing, opening].into_iter().flatten().find_map(|key| key.open(about, &sealed))
    }

    /// Names a sealed text: no other has this name, of 60 characters. Only that of a text that was [opened](Self::open) means
    /// anything.
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
    fn two_keys_live() {
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
    fn text_with_another_seal_is_not_opened() {
        let keys = SealingKeys::default();
        let text = sealed(&keys);
        assert!(opens(&keys, &text) && !opens(&SealingKeys::default(), &text));
        assert_eq!(keys.open(b"other", &text), None);
        assert_ne!(sealed(&keys), text, "each has its own nonce");
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
    fn processes_that_rotate_one_after_the_other_understand_each_other() {
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
    fn it_shows_no_key() {
        assert_eq!(format!("{:?}", SealingKeys::new([7; KEY])), "SealingKeys { .. }");
    }
}
