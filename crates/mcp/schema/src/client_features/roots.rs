//! The params and result of `roots/list`, the `Root` type, and `notifications/roots/list_changed`.

use std::path::Path;

use agentwire_wire_derive::Wire;

use crate::Meta;

/// Asks the client for the folders and files it works in. The server sends it.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/client/roots>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ListRootsRequest {
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

empty!(ListRootsRequest);
setters!(ListRootsRequest {
    some meta: Meta,
});

/// The folders and files that the client works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    #[wire(required)]
    pub roots: Vec<Root>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ListRootsResult {
    /// These roots.
    pub fn new(roots: Vec<Root>) -> Self {
        Self { roots, meta: None }
    }
}

setters!(ListRootsResult {
    some meta: Meta,
});

/// A folder or file that the client works in.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Root {
    /// Its location, a `file://` URI.
    #[wire(required, schema(extend("format" = "uri")))]
    pub uri: String,
    /// Its name for people.
    #[wire(optional)]
    pub name: Option<String>,
    /// Extension metadata. Since 2025-06-18.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl Root {
    /// The root at that URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: None }
    }

    /// The folder or file at an absolute path. Its URI is the path, percent-encoded.
    pub fn at(path: impl AsRef<Path>) -> Self {
        let mut uri = String::from("file://");
        // Paths of Windows begin with a drive and have backslashes.
        if cfg!(windows) {
            uri.push('/');
        }
        for byte in path.as_ref().as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                    uri.push(char::from(*byte));
                }
                b'\\' if cfg!(windows) => uri.push('/'),
                b':' if cfg!(windows) => uri.push(':'),
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        Self::new(uri)
    }
}

setters!(Root {
    some name: String,
    some meta: Meta,
});

bare_notification! {
    /// The client's roots have changed. The client sends it.
    RootsListChangedNotification;
}

has_meta!(ListRootsRequest, ListRootsResult, Root);

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_percent_encoded() {
        assert_eq!(Root::at("/work/a b/é%").uri, "file:///work/a%20b/%C3%A9%25");
    }
}
