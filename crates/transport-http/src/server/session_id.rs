use std::fmt;

use http::HeaderValue;

/// Names a session: 128 bits of the operating system's randomness, on the wire 32 hexadecimal digits.
///
/// Whoever knows it can speak in the session, so it does not appear in the debug form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(u128);

impl SessionId {
    /// A new one. None where the system has no randomness.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(u128::from_be_bytes(bytes)))
    }

    /// Reads the form on the wire, which has one spelling.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let digits: &[u8; 32] = value.try_into().ok()?;
        let digit = |id: u128, digit: &u8| {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return None,
            };
            Some(id << 4 | u128::from(value))
        };
        digits.iter().try_fold(0, digit).map(Self)
    }

    pub(crate) fn header(self) -> HeaderValue {
        HeaderValue::try_from(self.to_string()).expect("hexadecimal digits are a header's value")
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
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
        assert!(!format!("{id:?}").contains(&id.to_string()));
        for other in ["", "1", "+0000000000000000000000000000000", "0000000000000000000000000000000A"] {
            assert_eq!(SessionId::parse(other.as_bytes()), None, "{other}");
        }
    }
}
