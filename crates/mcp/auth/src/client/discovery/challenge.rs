//! Reads `WWW-Authenticate`: RFC 9110, section 11.6.1, with the parameters of RFC 6750, RFC 9728 and RFC 9449.

use std::collections::HashSet;

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// The demands of a server that refuses a request: the first challenge of a response that concerns tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Whether the scheme is `DPoP`; `Bearer` otherwise.
    pub(crate) dpop: bool,
    pub(crate) resource_metadata: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) error: Option<String>,
}

impl Challenge {
    /// The challenge of a response. Where there are several, one of `DPoP` comes before one of `Bearer`: it is the stronger.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let mut found: Option<Self> = None;
        for challenge in values.flat_map(parse) {
            let dpop = challenge.scheme.eq_ignore_ascii_case("DPoP");
            if !dpop && !challenge.scheme.eq_ignore_ascii_case("Bearer") {
                continue;
            }
            let next = Self {
                dpop,
                resource_metadata: challenge.get("resource_metadata"),
                scopes: challenge.get("scope").map_or_else(Vec::new, |scope| words(&scope)),
                error: challenge.get("error"),
            };
            found = match found {
                Some(first) if first.dpop || !next.dpop => Some(first.or(next)),
                Some(first) => Some(next.or(first)),
                None => Some(next),
            };
        }
        found
    }

    /// The same, completed from another challenge.
    fn or(self, other: Self) -> Self {
        Self {
            dpop: self.dpop,
            resource_metadata: self.resource_metadata.or(other.resource_metadata),
            scopes: if self.scopes.is_empty() { other.scopes } else { self.scopes },
            error: self.error.or(other.error),
        }
    }

    pub(crate) fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    pub(crate) fn demands_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce")
    }
}

/// How many scopes of a text are read: a header has room for a hundred thousand.
const MAX_WORDS: usize = 256;

/// How long a scope may be, in bytes.
const MAX_SCOPE: usize = 256;

/// The scopes in a text, each once.
pub(crate) fn words(scope: &str) -> Vec<String> {
    let mut known = HashSet::new();
    let words = scope.split_ascii_whitespace().filter(|word| is_scope(word));
    words.filter(|word| known.insert(*word)).take(MAX_WORDS).map(ToOwned::to_owned).collect()
}

/// Whether a server's text can be a scope: one word of ASCII, and not a long one.
pub(crate) fn is_scope(text: &str) -> bool {
    (1..=MAX_SCOPE).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

struct Parsed<'a> {
    scheme: &'a str,
    params: Vec<(&'a str, String)>,
}

impl Parsed<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let found = self.params.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone())
    }
}

/// The challenges of one header. What cannot be read ends the list.
fn parse(text: &str) -> Vec<Parsed<'_>> {
    let mut found: Vec<Parsed<'_>> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let name = token(rest);
        if name.is_empty() {
            return found;
        }
        let after = rest[name.len()..].trim_start_matches([' ', '\t']);
        // `name=value` is a parameter of the last challenge; a name alone, or one before something else, is a scheme.
        if let (Some(value), Some(last)) = (after.strip_prefix('='), found.last_mut())
            && !value.starts_with('=')
        {
            let Some((value, left)) = parameter(value.trim_start_matches([' ', '\t'])) else { return found };
            last.params.push((name, value));
            rest = left;
            continue;
        }
        found.push(Parsed { scheme: name, params: Vec::new() });
        rest = after;
        // A token68 in place of parameters: it ends at a blank or a comma.
        let end = rest.find([',', ' ', '\t']).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_token68 =
            !word.contains('"') && (word.ends_with('=') || !word.contains('=')) && !word.is_empty();
        if is_token68 && rest[end..].trim_start().starts_with(',') | rest[end..].trim_start().is_empty() {
            rest = &rest[end..];
        }
    }
}

/// The value of a parameter, and what comes after it.
fn parameter(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let value = &text[..text.find([',', ' ', '\t']).unwrap_or(text.len())];
        return Some((value.to_owned(), &text[value.len()..]));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// The token at the beginning of a text.
fn token(text: &str) -> &str {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let end = text.bytes().position(|byte| !is_token(byte)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(values: &[&str]) -> Option<Challenge> {
        let headers = values.iter().map(|value| (WWW_AUTHENTICATE, HeaderValue::from_str(value).unwrap()));
        Challenge::of(&headers.collect())
    }

    #[test]
    fn parameters_are_read() {
        let found = of(&[
            r#"Bearer resource_metadata="https://a.example/x?y=1,2", scope="a  b a", error=invalid_token"#,
        ]);
        let expected = Challenge {
            dpop: false,
            resource_metadata: Some("https://a.example/x?y=1,2".into()),
            scopes: vec!["a".into(), "b".into()],
            error: Some("invalid_token".into()),
        };
        assert_eq!(found, Some(expected));
        let escaped = of(&[r#"bearer scope = "a\"b" , error="x""#]).unwrap();
        assert_eq!((escaped.scopes, escaped.error), (vec![r#"a"b"#.to_owned()], Some("x".into())));
    }

    #[test]
    fn other_schemes_are_passed_over() {
        let one = of(&[r#"Basic realm="x", Bearer scope="a""#]).unwrap();
        assert_eq!(one.scopes, ["a"]);
        let several =
            of(&["Negotiate YII=", r#"DPoP error="use_dpop_nonce", algs="ES256""#, r#"Bearer scope="b""#]);
        let several = several.unwrap();
        assert!(several.dpop && several.demands_nonce());
        assert_eq!(several.scopes, ["b"]);
        assert_eq!(of(&["Negotiate YII=, Bearer scope=a"]).unwrap().scopes, ["a"]);
        assert_eq!(of(&["Basic realm=x"]), None);
        assert_eq!(of(&["Bearer"]), Some(Challenge::default()));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_header_full_of_scopes_is_read_in_part() {
        let scopes: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        let found = of(&[&format!("Bearer scope=\"{} {}\"", "x".repeat(10_000), scopes.join(" "))]).unwrap();
        assert_eq!(found.scopes, scopes[..MAX_WORDS]);
    }

    #[test]
    fn nonsense_ends_the_list() {
        for (text, schemes) in [
            ("Bearer scope=\"a", &["Bearer"][..]),
            ("Bearer =", &["Bearer"]),
            ("Bearer scope=\"a\\", &["Bearer"]),
            ("Bearer é", &["Bearer"]),
            ("\"", &[]),
            (",,,", &[]),
            ("= = =", &[]),
        ] {
            let found = parse(text);
            assert_eq!(found.iter().map(|challenge| challenge.scheme).collect::<Vec<_>>(), schemes, "{text}");
            assert!(found.iter().all(|challenge| challenge.params.is_empty()), "{text}");
        }
        assert_eq!(of(&["Bearer error=\"x\", scope=\"a"]).unwrap().error.as_deref(), Some("x"));
    }
}
