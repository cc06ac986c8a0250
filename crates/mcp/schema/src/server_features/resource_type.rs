//! The macro for `Resource` and `ResourceLink`, which have the same members but for the tag.

/// Defines a description of a resource: one in a list, or one that a content block links to. A link is a resource with a tag.
macro_rules! resource_type {
    ($(#[$attribute:meta])* $name:ident) => {
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
        $(#[$attribute])*
        #[non_exhaustive]
        pub struct $name {
            /// Its URI, with which `resources/read` reads it.
            #[wire(required, schema(extend("format" = "uri")))]
            pub uri: String,
            /// Its name for programs.
            #[wire(expected)]
            pub name: String,
            /// Its name for people. Since 2025-06-18.
            #[wire(optional)]
            pub title: Option<String>,
            /// A description for the model.
            #[wire(optional)]
            pub description: Option<String>,
            /// Its media type.
            #[wire(optional)]
            pub mime_type: Option<String>,
            /// Its length in bytes, before any encoding.
            #[wire(optional)]
            pub size: Option<u64>,
            /// Icons to show for it. Since 2025-11-25.
            #[wire(plain_list)]
            pub icons: Vec<crate::Icon>,
            /// Its audience and priority.
            #[wire(optional)]
            pub annotations: Option<crate::Annotations>,
            /// Extension metadata. Since 2025-06-18.
            #[wire(strict_meta)]
            pub meta: Option<crate::Meta>,
        }

        impl $name {
            /// Describes the resource of that name at that URI.
            pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
                Self {
                    uri: uri.into(),
                    name: name.into(),
                    title: None,
                    description: None,
                    mime_type: None,
                    size: None,
                    icons: Vec::new(),
                    annotations: None,
                    meta: None,
                }
            }
        }

        setters!($name {
            some title: String,
            some description: String,
            some mime_type: String,
            some size: u64,
            list icons: crate::Icon,
            some annotations: crate::Annotations,
            some meta: crate::Meta,
        });

        has_meta!($name);
    };
}
