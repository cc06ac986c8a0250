//! The nonces that a server demands in proofs. They are computed from the time, so none is stored.

use std::fmt;

use ring::hmac::{HMAC_SHA256, Key, Tag, sign};
use ring::rand::SystemRandom;

use crate::jose::{KeyError, encode_base64url};

/// How long a nonce is sent to clients, in seconds. It is accepted for one more period.
const PERIOD: u64 = 300;

/// Makes nonces. Each is a keyed hash of the number of its period.
#[derive(Clone)]
pub(crate) struct Nonces(Key);

impl Nonces {
    /// Nonces with a random key, which only this process accepts.
    pub(crate) fn random() -> Result<Self, KeyError> {
        let key = Key::generate(HMAC_SHA256, &SystemRandom::new());
        key.map(Self).map_err(|_| KeyError::Random)
    }

    /// Nonces that all servers with this secret accept.
    pub(crate) fn of(secret: &[u8]) -> Self {
        Self(Key::new(HMAC_SHA256, secret))
    }

    /// The nonce at a time in seconds since 1970.
    pub(crate) fn current(&self, now: u64) -> String {
        self.of_period(now / PERIOD)
    }

    /// Whether a nonce belongs to the current period or the one before.
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
    fn nonce_is_accepted_for_two_periods() {
        let nonces = Nonces::of(b"secret");
        let nonce = nonces.current(1000 * PERIOD);
        assert!(nonces.accepts(&nonce, 1000 * PERIOD) && nonces.accepts(&nonce, 1002 * PERIOD - 1));
        assert!(!nonces.accepts(&nonce, 1002 * PERIOD) && !nonces.accepts(&nonce, 1000 * PERIOD - 1));
        assert!(!Nonces::of(b"other").accepts(&nonce, 1000 * PERIOD));
        assert!(!Nonces::random().unwrap().accepts(&nonce, 1000 * PERIOD));
    }
}
