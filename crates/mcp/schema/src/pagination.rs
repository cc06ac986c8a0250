//! The list cursor, the trait of paged requests, and the macros for list methods and for notifications that carry only `_meta`.

use std::fmt;

use agentwire_jsonrpc::RequestMethod;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A position in a long list, named by the server of the list.
///
/// It is opaque to the client, which returns it unread. The empty cursor is one like any other.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination>.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// The text that travels.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Cursor {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Cursor {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request whose answer is one page of a list.
///
/// A page has its items in the member [`ITEMS`](Self::ITEMS), an array, and in `nextCursor` where the next one begins.
pub trait Paginated: RequestMethod {
    /// The type of the list's items.
    type Item: DeserializeOwned;

    /// The name of the member of a page that holds its items.
    const ITEMS: &'static str;

    /// Asks for the first page, or the one at `cursor`.
    fn page(cursor: Option<Cursor>) -> Self;
}

/// Declares the request and the result of a method that lists something.
macro_rules! list_method {
    (
        $(#[$request_attribute:meta])* $request:ident,
        $(#[$result_attribute:meta])* $result:ident { $(#[doc = $items_doc:literal])* $items:ident = $name:literal: $item:ident }
    ) => {
        $(#[$request_attribute])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, agentwire_wire_derive::Wire)]
        #[non_exhaustive]
        pub struct $request {
            /// The cursor of the page. `None` for the first page.
            #[wire(optional)]
            pub cursor: Option<crate::Cursor>,
            /// Extension metadata.
            #[wire(strict_meta)]
            pub meta: Option<Meta>,
        }

        empty!($request);
        setters!($request {
            some cursor: crate::Cursor,
            some meta: Meta,
        });

        $(#[$result_attribute])*
        #[derive(Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire)]
        #[non_exhaustive]
        pub struct $result {
            $(#[doc = $items_doc])*
            #[wire(required)]
            pub $items: Vec<$item>,
            /// The cursor of the next page. `None` on the last page.
            #[wire(optional)]
            pub next_cursor: Option<crate::Cursor>,
            /// The kind of this result; absent means complete. Since 2026-07-28.
            #[wire(optional)]
            pub result_type: Option<crate::ResultType>,
            /// For how many milliseconds it may be cached; absent or negative means 0, not at all. Since 2026-07-28.
            #[wire(optional, read = crate::wire::time_to_live, schema(with = "Option<crate::schema::Milliseconds>"))]
            pub ttl_ms: Option<u64>,
            /// The users that may get the cached result. Since 2026-07-28.
            #[wire(optional)]
            pub cache_scope: Option<crate::CacheScope>,
            /// Extension metadata.
            #[wire(strict_meta)]
            pub meta: Option<Meta>,
        }

        impl $result {
            /// The only page, or the last one.
            pub fn new($items: Vec<$item>) -> Self {
                Self {
                    $items,
                    next_cursor: None,
                    result_type: None,
                    ttl_ms: None,
                    cache_scope: None,
                    meta: None,
                }
            }
        }

        setters!($result {
            some next_cursor: crate::Cursor,
            some result_type: crate::ResultType,
            some ttl_ms: u64,
            some cache_scope: crate::CacheScope,
            some meta: Meta,
        });

        impl crate::Paginated for $request {
            type Item = $item;

            const ITEMS: &'static str = $name;

            fn page(cursor: Option<crate::Cursor>) -> Self {
                Self { cursor, meta: None }
            }
        }

        has_meta!($request, $result);
    };
}

/// Declares a notification without parameters of its own.
macro_rules! bare_notification {
    ($( $(#[$attribute:meta])* $notification:ident; )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, Default, PartialEq, Eq, agentwire_wire_derive::Wire)]
            #[non_exhaustive]
            pub struct $notification {
                /// Extension metadata.
                #[wire(strict_meta)]
                pub meta: Option<Meta>,
            }

            empty!($notification);
            setters!($notification {
                some meta: Meta,
            });

            has_meta!($notification);
        )+
    };
}
