//! The part of a URI that a span shows.

use std::borrow::Cow;

/// The part of a URI without user info, query and fragment, which may be credentials, and without the content of a `data:` URI.
pub(crate) fn public_part(uri: &str) -> Cow<'_, str> {
    let uri = &uri[..uri.find(['?', '#']).unwrap_or(uri.len())];
    if uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        return uri.split_once(',').map_or(uri, |(kind, _)| kind).into();
    }
    let Some((scheme, rest)) = uri.split_once("//") else { return uri.into() };
    let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}//{host}{path}").into(),
        None => uri.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_left_out() {
        for (uri, expected) in [
            ("https://user:pass@host:1/path/@me?token=1#part", "https://host:1/path/@me"),
            ("https://a@b@host", "https://host"),
            ("https://host/path@here", "https://host/path@here"),
            ("https://host?q=//x@y", "https://host"),
            ("https://u@host\\path", "https://host\\path"),
            ("file:///é/a b", "file:///é/a b"),
            ("agentwire://about", "agentwire://about"),
            ("urn:a:b#c", "urn:a:b"),
            ("DATA:text/plain;base64,c2VjcmV0", "DATA:text/plain;base64"),
            ("é", "é"),
            ("", ""),
        ] {
            assert_eq!(public_part(uri), expected);
        }
    }
}
