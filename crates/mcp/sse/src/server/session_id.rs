//! Reads and writes the id of a session as a parameter of a URI's query.

use agentwire_store::SessionId;

/// The parameter of a query that names a session.
const QUERY: &str = "sessionId";

/// Finds the id in the query of a URI. `None` without such a parameter; an inner `None` if it is not an id.
pub(crate) fn in_query(query: &str) -> Option<Option<SessionId>> {
    let mut values = query.split('&').filter_map(|pair| pair.strip_prefix(QUERY)?.strip_prefix('='));
    let first = values.next()?;
    Some(SessionId::parse(first.as_bytes()).filter(|_| values.next().is_none()))
}

/// Returns the URI of a path with the id in its query.
pub(crate) fn append_to(path: &str, id: SessionId) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}{QUERY}={id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_from_the_uri_it_was_written_to() {
        let id = SessionId::random().unwrap();
        for path in ["/messages", "messages?x=1"] {
            let uri = append_to(path, id);
            let (_, query) = uri.split_once('?').unwrap();
            assert!(in_query(query) == Some(Some(id)), "{uri}");
            assert!(in_query(&format!("a=b&{query}&c")) == Some(Some(id)), "{uri}");
            assert!(in_query(&format!("{query}&{query}")) == Some(None), "twice");
        }
        assert!(in_query("a=b&sessionID=0&sessionId").is_none());
        for other in ["", "1", "+0000000000000000000000000000000", "0000000000000000000000000000000A"] {
            assert!(in_query(&format!("sessionId={other}")) == Some(None), "{other}");
        }
    }
}
