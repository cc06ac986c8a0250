use serde::Serialize;

use crate::Meta;

object! {
    /// Asks the client for the folders and files it works in. The server sends it.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/roots>.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct ListRootsRequest {
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

setters!(ListRootsRequest {
    some meta: Meta,
});

object! {
    /// The folders and files that the client works in.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct ListRootsResult {
        /// The roots.
        pub roots: Vec<Root>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
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

object! {
    /// A folder or file that the client works in.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct Root {
        /// Where it is, a `file://` URI.
        #[cfg_attr(feature = "schema", schemars(extend("format" = "uri")))]
        pub uri: String,
        /// Its name for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Attachments. Since 2025-06-18.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl Root {
    /// The root at that URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: None }
    }
}

setters!(Root {
    some name: String,
    some meta: Meta,
});

bare_notification! {
    /// The client's roots are others now. The client sends it.
    RootsListChangedNotification;
}

has_meta!(ListRootsRequest, ListRootsResult, Root);
