//! Generates the random id of a session, and reads and writes it as a parameter of a URI's query.

/// The parameter of a query that names a session.
const QUERY: &str = "sessionId";

/// Names a session: 128 bits of the operating system's randomness, on the wire 32 hexadecimal digits. A caller
/// that knows it can send messages to the session, so there is no debug form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(u128);

impl SessionId {
    /// A new one. None where the system has no randomness.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(u128::from_be_bytes(bytes)))
    }

    /// Finds it in the query of a URI. None where there is no such parameter; an inner none where it is no id.
    pub(crate) fn in_query(query: &str) -> Option<Option<Self>> {
        let mut values = query.split('&').filter_map(|pair| pair.strip_prefix(QUERY)?.strip_prefix('='));
        let first = values.next()?;
        Some(Self::parse(first).filter(|_| values.next().is_none()))
    }

    /// The URI of a path with this id in its query.
    pub(crate) fn append_to(self, path: &str) -> String {
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}{QUERY}={:032x}", self.0)
    }

    fn parse(digits: &str) -> Option<Self> {
        let valid =
            digits.len() == 32 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        u128::from_str_radix(digits, 16).ok().filter(|_| valid).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_from_the_uri_it_was_written_to() {
        let id = SessionId::random().unwrap();
        for path in ["/messages", "messages?x=1"] {
            let uri = id.append_to(path);
            let (_, query) = uri.split_once('?').unwrap();
            assert!(SessionId::in_query(query) == Some(Some(id)), "{uri}");
            assert!(SessionId::in_query(&format!("a=b&{query}&c")) == Some(Some(id)), "{uri}");
            assert!(SessionId::in_query(&format!("{query}&{query}")) == Some(None), "twice");
        }
        assert!(SessionId::in_query("a=b&sessionID=0&sessionId").is_none());
        for other in ["", "1", "+0000000000000000000000000000000", "0000000000000000000000000000000A"] {
            assert!(SessionId::in_query(&format!("sessionId={other}")) == Some(None), "{other}");
        }
    }
}
