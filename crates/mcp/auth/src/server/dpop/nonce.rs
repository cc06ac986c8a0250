//! The nonces that a server demands in proofs: they change with time, and need no memory.

use std::fmt;

use ring::hmac::{HMAC_SHA256, Key, Tag, sign};
use ring::rand::SystemRandom;

use crate::jose::{KeyError, encode_base64url};

/// How long a nonce is given out, in seconds. It is taken for as long again.
const PERIOD: u64 = 300;

/// Makes nonces, each of which is a keyed hash of its period of time.
#[derive(Clone)]
pub(crate) struct Nonces(Key);

impl Nonces {
    /// Nonces of this process alone.
    pub(crate) fn random() -> Result<Self, KeyError> {
        let key = Key::generate(HMAC_SHA256, &SystemRandom::new());
        key.map(Self).map_err(|_| KeyError::Random)
    }

    /// Nonces of all servers with this secret.
    pub(crate) fn of(secret: &[u8]) -> Self {
        Self(Key::new(HMAC_SHA256, secret))
    }

    /// The nonce of a moment, in seconds since 1970.
    pub(crate) fn current(&self, now: u64) -> String {
        self.of_period(now / PERIOD)
    }

    /// Whether a nonce is that of now or of the period before.
    pub(crate) fn accepts(&self, nonce: &str, now: u64) -> bool {
        let period = now / PERIOD;
        nonce == self.of_period(period) || nonce == self.of_period(period.saturating_sub(1))
    }

    fn of_period(&self, period: u64) -> String {
        let tag: Tag = sign(&self.0, &period.to_be_bytes());
        encode_base64url(tag.as_ref())
    }
}

impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonces")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_taken_for_two_periods() {
        let nonces = Nonces::of(b"secret");
        let nonce = nonces.current(1000 * PERIOD);
        assert!(nonces.accepts(&nonce, 1000 * PERIOD) && nonces.accepts(&nonce, 1002 * PERIOD - 1));
        assert!(!nonces.accepts(&nonce, 1002 * PERIOD) && !nonces.accepts(&nonce, 1000 * PERIOD - 1));
        assert!(!Nonces::of(b"other").accepts(&nonce, 1000 * PERIOD));
        assert!(!Nonces::random().unwrap().accepts(&nonce, 1000 * PERIOD));
    }
}
