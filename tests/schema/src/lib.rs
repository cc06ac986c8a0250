//! The generated JSON Schemas, held against the types and against every message of our tests.
//!
//! The types are the source of the schemas, so a test that only asks the types proves nothing. Here are the parts of
//! one that asks the schema: what it allows, what a reader owes it, and whether a message is right by it.
//!
//! ```text
//!   docs/schema/*.json ── Document ──┬─ Instances ── mutations      values, right and wrong
//!                                    ├─ Reader ── Reading, Kept     what a reader takes, refuses and keeps
//!                                    └─ Validator ── Conversation   whole messages, by the version agreed on
//!                                                        └─ checked    a transport that stops us
//! ```
//!
//! - [`Instances`] makes valid values of a definition.
//! - [`mutations`] spoils them in one place.
//! - [`Reader`] decides by the schema and its keywords of leniency alone about a value: it is taken and this
//!   must be [`Kept`], or it is refused. [`Rules`] list where the documented way to read goes beyond the schema.
//! - [`superset`] is one document of several revisions, for types that speak them all.
//! - [`checked`] goes around a transport in the tests of other crates:
//!
//! ```
//! use agentwire_schema_tests::{Conversation, Side, checked};
//! use agentwire_transport::duplex;
//!
//! let (near, _far) = duplex(8);
//! let _near = checked(near, Conversation::mcp(), Side::Server); // `server.serve(near)` panics when it writes nonsense
//! ```
//!
//! # What may get lost between reading and writing
//!
//! Members that no schema knows, but in `_meta`, in maps and in capabilities; members that are malformed where the
//! schema counts them as missing; bad items where it skips them; and the difference between a member
//! that is missing and one that is null, its default, or an empty list, where these mean the same. Everything else
//! comes back as the same JSON, however numbers are spelled. Nothing may be added but such defaults.

mod checked;
mod conversation;
mod document;
mod expect;
mod instance;
mod kept;
mod mutate;
mod place;
mod rules;
mod sample;
mod shape;
mod superset;
mod validator;

pub use checked::checked;
pub use conversation::Conversation;
pub use document::{Document, folder};
pub use expect::{Reader, Reading};
pub use instance::Instances;
pub use kept::{Entry, Kept};
pub use mutate::{Mutation, mutations};
pub use rules::{ACP, ACP_DRAFT, ACP_V2, MCP, Rules};
pub use superset::superset;
pub use validator::{Side, Validator};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
