use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, string_id};

string_id! {
    /// A media type, such as `image/png`.
    MediaType,
}

/// A picture that stands for something in a list or on a button.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Icon {
    /// Where it is: a URI of the scheme `https` or `data`. Clients load no other, send no credentials and follow no
    /// redirect to elsewhere.
    #[wire(required, schema(url))]
    pub src: String,
    /// Its media type, where the source says none or too little.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// The sizes for which it is meant, such as `48x48`, or `any`. Every size where none is named.
    #[wire(optional_items)]
    pub sizes: Option<Vec<String>>,
    /// The background for which it is meant. Every one where none is named.
    #[wire(lenient)]
    pub theme: Option<IconTheme>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The background for which an icon is meant. Words of one's own begin with `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum IconTheme {
    /// A light one.
    #[wire("light")]
    Light,
    /// A dark one.
    #[wire("dark")]
    Dark,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
