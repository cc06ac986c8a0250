//! URI templates: the first line is a template, the rest a URI.

use std::collections::BTreeSet;

use agentwire_mcp_server::UriTemplate;

pub(crate) const WORDS: &[&[u8]] = &[
    b"{id}",
    b"{+path}",
    b"{#part}",
    b"{.kind}",
    b"{/name}",
    b"{;point}",
    b"{?query,limit}",
    b"{&more}",
    b"%2F",
    b"%FF",
    b"://",
    b"\n",
];

/// A URI fits or does not, and its values have the names of the template's variables.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (template, uri) = text.split_once('\n').unwrap_or((text, text));
    let Ok(template) = template.parse::<UriTemplate>() else { return };
    let variables: BTreeSet<&str> = template.variables().collect();
    if let Some(values) = template.matches(uri) {
        assert!(values.keys().all(|name| variables.contains(&**name)), "a value of no variable");
        // What one variable has, no other has, and decoding makes nothing longer.
        assert!(values.values().map(String::len).sum::<usize>() <= uri.len(), "more came out than went in");
    }
}
