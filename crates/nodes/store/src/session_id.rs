//! Generates the random 128-bit value of `Mcp-Session-Id`, and reads and writes its hexadecimal form.

use std::fmt;

use http::HeaderValue;
use serde::{Deserialize, Serialize};

/// Names a session: 128 random bits of the operating system, on the wire 32 hexadecimal digits.
///
/// A caller that knows the id can send messages to the session, so the debug form does not show it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SessionId(u128);

impl SessionId {
    /// A new id. `None` if the system has no randomness.
    pub fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(u128::from_be_bytes(bytes)))
    }

    /// Reads the form on the wire, which has one spelling.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (high, low) = value.split_at_checked(16).filter(|(_, low)| low.len() == 16)?;
        Some(Self(u128::from(number(high)?) << 64 | u128::from(number(low)?)))
    }

    /// The form on the wire.
    pub fn header(self) -> HeaderValue {
        HeaderValue::try_from(self.to_string()).expect("hexadecimal digits are a header's value")
    }
}

/// The value of each byte as a hexadecimal digit in lower case.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

/// Has a bit that the value of no digit has.
const NO_DIGIT: u8 = 0x80;

/// Reads up to 16 hexadecimal digits.
fn number(text: &[u8]) -> Option<u64> {
    let (mut number, mut seen) = (0, 0);
    for byte in text {
        let digit = DIGITS[usize::from(*byte)];
        seen |= digit;
        number = number << 4 | u64::from(digit);
    }
    (seen < NO_DIGIT).then_some(number)
}

impl From<SessionId> for String {
    fn from(session: SessionId) -> Self {
        session.to_string()
    }
}

impl TryFrom<String> for SessionId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(text.as_bytes()).ok_or("not 32 hexadecimal digits")
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 32];
        for (digits, byte) in text.chunks_exact_mut(2).zip(self.0.to_be_bytes()) {
            digits.copy_from_slice(
                &[byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]),
            );
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_back_and_never_shown() {
        let id = SessionId::random().unwrap();
        assert_eq!(SessionId::parse(id.header().as_bytes()), Some(id));
        assert_ne!(Some(id), SessionId::random());
        assert_eq!(serde_json::from_str::<SessionId>(&format!("\"{id}\"")).unwrap(), id);
        assert!(!format!("{id:?}").contains(&id.to_string()));
        for other in ["", "1", "+0000000000000000000000000000000", "0000000000000000000000000000000A"] {
            assert_eq!(SessionId::parse(other.as_bytes()), None, "{other}");
        }
    }
}
