//! Checks the names and URIs of registered items.

/// Refuses a name that the [specification](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names)
/// does not allow for tools. Prompts have the same rule, as hosts offer them as commands.
///
/// # Panics
///
/// When the name is not 1 to 128 of `A-Z a-z 0-9 _ - .`.
#[track_caller]
pub(crate) fn check_name(of: &str, name: &str) {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    assert!(
        (1..=128).contains(&name.len()) && name.bytes().all(is_allowed),
        "the {of} {name:?}: a name is 1 to 128 of `A-Z a-z 0-9 _ - .`"
    );
}

/// Refuses a text that is not a URI. The rules of its scheme are not checked.
///
/// # Panics
///
/// If it has no scheme, or contains white space or control characters.
#[track_caller]
pub(crate) fn check_uri(uri: &str) {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    };
    assert!(
        uri.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty()),
        "the resource {uri:?}: a URI begins with a scheme, as in `memo:///motto`"
    );
    assert!(
        !uri.contains(|c: char| c.is_whitespace() || c.is_control()),
        "the resource {uri:?}: a URI has no white space and no control characters; write them percent-encoded"
    );
}
