//! `Implementation`, the name and version of a peer, and `Icon`, which tools, prompts and resources also have.

use agentwire_wire_derive::Wire;

/// The name and version of a program that speaks the protocol, and how to show it to people.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/schema#implementation>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Implementation {
    /// The name for programs.
    #[wire(expected)]
    pub name: String,
    /// The name for people; the plain name if absent. Since 2025-06-18.
    #[wire(optional)]
    pub title: Option<String>,
    /// The program's own version, of no fixed form.
    #[wire(expected)]
    pub version: String,
    /// The purpose of the program, in a sentence or two. Since 2025-11-25.
    #[wire(optional)]
    pub description: Option<String>,
    /// Icons to show for it. Since 2025-11-25.
    #[wire(plain_list)]
    pub icons: Vec<Icon>,
    /// The program's home page. Since 2025-11-25.
    #[wire(optional, schema(extend("format" = "uri")))]
    pub website_url: Option<String>,
}

impl Implementation {
    /// A program of that name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            icons: Vec::new(),
            website_url: None,
        }
    }

    /// The title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

setters!(Implementation {
    some title: String,
    some description: String,
    list icons: Icon,
    some website_url: String,
});

/// A picture that stands for a program, a tool, a prompt or a resource. Since 2025-11-25.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic#icons>.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Icon {
    /// The location of the picture: an `https:` or a `data:` URI. Do not trust its content.
    #[wire(required, schema(extend("format" = "uri")))]
    pub src: String,
    /// Its media type, if the source does not have it or has a wrong one.
    #[wire(optional)]
    pub mime_type: Option<String>,
    /// The sizes it is good at, each `48x48` or `any`. None means any.
    #[wire(plain_list)]
    pub sizes: Vec<String>,
    /// The background it was drawn for. None means either.
    #[wire(optional)]
    pub theme: Option<IconTheme>,
}

impl Icon {
    /// The picture at that URI.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }
}

setters!(Icon {
    some mime_type: String,
    list sizes: String,
    some theme: IconTheme,
});

/// The background that an icon was drawn for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum IconTheme {
    /// A light background.
    #[wire("light")]
    Light,
    /// A dark background.
    #[wire("dark")]
    Dark,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}
