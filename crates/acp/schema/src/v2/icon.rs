//! `MediaType`, and the icon of a `ResourceLink` with its sizes and theme.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, string_id};

string_id! {
    /// A media type, such as `image/png`.
    MediaType,
}

/// A picture for an entry of a list or a button.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Icon {
    /// Its URI, of the scheme `https` or `data`. Clients load no other, send no credentials and follow no redirect to
    /// another origin.
    #[wire(required, schema(url))]
    pub src: String,
    /// Its media type, if the source does not state it precisely.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// The sizes for which it is meant, such as `48x48`, or `any`. If the member is missing, every size.
    #[wire(optional_items)]
    pub sizes: Option<Vec<String>>,
    /// The background for which it is meant. If the member is missing, every background.
    #[wire(lenient)]
    pub theme: Option<IconTheme>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The background for which an icon is meant. Custom strings begin with `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum IconTheme {
    /// A light one.
    #[wire("light")]
    Light,
    /// A dark one.
    #[wire("dark")]
    Dark,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}
