//! Finds the token of a request, in the one place where it may stand.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, Uri};

use crate::server::rejection::Rejection;

/// The header of a proof of possession.
pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");

/// How a token is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Bearer,
    Dpop,
}

/// The token of a request, and the proof that comes with it.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) scheme: Scheme,
    pub(crate) token: String,
    pub(crate) proof: Option<String>,
}

impl Credentials {
    /// Reads the headers, and refuses a token in the query even beside one in the header.
    pub(crate) fn of(headers: &HeaderMap, uri: &Uri, token_limit: usize) -> Result<Self, Rejection> {
        let query = uri.query().unwrap_or_default();
        if form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "access_token") {
            return Err(Rejection::InQuery);
        }
        let authorization = single(headers, &AUTHORIZATION, "Authorization")?.ok_or(Rejection::Missing)?;
        let (scheme, token) = authorization.split_once(' ').ok_or(Rejection::Missing)?;
        let scheme = match scheme {
            scheme if scheme.eq_ignore_ascii_case("bearer") => Scheme::Bearer,
            scheme if scheme.eq_ignore_ascii_case("dpop") => Scheme::Dpop,
            _ => return Err(Rejection::Missing),
        };
        let token = token.trim_matches(' ');
        if token.is_empty() {
            return Err(Rejection::Missing);
        }
        if token.len() > token_limit {
            return Err(Rejection::TooLong { limit: token_limit });
        }
        if !is_token(token) {
            return Err(Rejection::malformed("it has characters that no token has"));
        }
        let proof = single(headers, &DPOP, "DPoP")?.map(str::to_owned);
        Ok(Self { scheme, token: token.to_owned(), proof })
    }
}

/// The characters of RFC 6750, section 2.1.
fn is_token(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !digits.is_empty() && digits.bytes().all(is_digit)
}

fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    shown: &'static str,
) -> Result<Option<&'a str>, Rejection> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Rejection::Repeated { header: shown });
    }
    match first.map(|value| value.to_str()) {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value.trim())),
        Some(Err(_)) => Err(Rejection::malformed("a header has characters that no token has")),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(values: &[&str], uri: &str) -> Result<(Scheme, String), Rejection> {
        let headers =
            values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap()));
        let read = Credentials::of(&headers.collect(), &uri.parse().unwrap(), 32);
        read.map(|credentials| (credentials.scheme, credentials.token))
    }

    #[test]
    fn a_token_stands_in_one_header() {
        for (value, scheme) in [
            ("Bearer abc", Scheme::Bearer),
            ("bearer abc", Scheme::Bearer),
            ("BEARER   abc ", Scheme::Bearer),
            ("DPoP abc", Scheme::Dpop),
            ("dpop abc", Scheme::Dpop),
        ] {
            assert_eq!(read(&[value], "/mcp"), Ok((scheme, "abc".to_owned())), "{value}");
        }
        for value in ["", "Bearer", "Bearer ", "Bearerabc", "Basic abc", "abc"] {
            assert_eq!(read(&[value], "/mcp"), Err(Rejection::Missing), "{value}");
        }
        assert_eq!(read(&[], "/mcp"), Err(Rejection::Missing));
        for value in
            ["Bearer a b", "Bearer a, Bearer b", "Bearer \"a\"", "Bearer =", "Bearer \u{e4}", "Bearer a\tb"]
        {
            assert!(matches!(read(&[value], "/mcp"), Err(Rejection::Malformed { .. })), "{value}");
        }
        let twice = Err(Rejection::Repeated { header: "Authorization" });
        assert_eq!(read(&["Bearer abc", "Bearer abc"], "/mcp"), twice);
        assert_eq!(read(&["Bearer abc", "Basic abc"], "/mcp"), twice);
        assert_eq!(
            read(&[&format!("Bearer {}", "a".repeat(33))], "/mcp"),
            Err(Rejection::TooLong { limit: 32 })
        );
    }

    #[test]
    fn a_token_stands_in_no_query() {
        for query in ["access_token=abc", "a=b&access_token=abc", "access_token", "access%5Ftoken=abc"] {
            assert_eq!(read(&["Bearer abc"], &format!("/mcp?{query}")), Err(Rejection::InQuery), "{query}");
            assert_eq!(read(&[], &format!("/mcp?{query}")), Err(Rejection::InQuery), "{query}");
        }
        assert!(read(&["Bearer abc"], "/mcp?sessionId=1&token=x").is_ok());
    }
}
