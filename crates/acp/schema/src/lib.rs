//! The types of the [Agent Client Protocol](https://agentclientprotocol.com): the messages between an editor and an agent.
//!
//! `agentwire_acp_schema` here is `agentwire::acp::schema` in the crate `agentwire`, with its feature `acp-schema`.
//!
//! This crate reads and writes messages. It has no I/O and no state, so it is enough for a program that analyses
//! transcripts, and any runtime can be built on it.
//!
//! ```text
//!   {"method":"session/prompt","params":{…}}    the params are a PromptRequest,
//!   {"result":{…}}                              their answer a PromptResponse
//!
//!   v1::METHODS ── name ──▶ RequestMethod::NAME ◀── impl RequestMethod for PromptRequest { type Response = PromptResponse }
//! ```
//!
//! ```
//! use agentwire_acp_schema::v1::{PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason};
//! use agentwire_jsonrpc::RequestMethod;
//!
//! # fn main() -> Result<(), serde_json::Error> {
//! let prompt = PromptRequest::new("session-1", "Fix the bug");
//! assert_eq!(PromptRequest::NAME, "session/prompt");
//! assert_eq!(
//!     serde_json::to_string(&prompt)?,
//!     r#"{"sessionId":"session-1","prompt":[{"type":"text","text":"Fix the bug"}]}"#,
//! );
//!
//! let update = SessionNotification::message(&prompt.session_id, "Done.");
//! let text = serde_json::to_string(&update)?;
//! assert_eq!(serde_json::from_str::<SessionNotification>(&text)?, update);
//!
//! // An update of a newer agent is kept, and written back unchanged.
//! let odd = r#"{"sessionId":"session-1","update":{"sessionUpdate":"sang","song":7}}"#;
//! let unknown: SessionNotification = serde_json::from_str(odd)?;
//! assert!(matches!(unknown.update, SessionUpdate::Unknown(_)));
//! assert_eq!(serde_json::to_string(&unknown)?, odd);
//!
//! assert_eq!(PromptResponse::new(StopReason::EndTurn).stop_reason.as_str(), "end_turn");
//! # Ok(())
//! # }
//! ```
//!
//! # How it reads
//!
//! Leniently where the protocol's schema allows it, member by member, and strictly otherwise:
//!
//! - A malformed optional member counts as missing where the schema has the keyword `x-deserialize-default-on-error`,
//!   whatever JSON it holds; a malformed item of a list is dropped where it has `x-deserialize-skip-invalid-items`; `null` is
//!   an empty list where it has `x-deserialize-default-on-null`. Any other fault is an error.
//! - A string that is not in the schema is kept in a variant `Other(String)`. ([`ToolKind`](v1::ToolKind), whose schema has
//!   the string `other`, calls the variant `Unknown`.) An object with an unknown tag is kept whole in a variant `Unknown`.
//! - Two tagged unions are closed: [`RequestPermissionOutcome`](v1::RequestPermissionOutcome), because an unknown outcome must not
//!   pass for consent, and the value of [`SetSessionConfigOptionRequest`](v1::SetSessionConfigOptionRequest), because an
//!   agent cannot set an option to an unknown value. The draft of version 2 publishes both as open.
//! - `_meta` is kept everywhere. Other unknown members are kept only in capabilities, where real peers put them.
//!
//! # How it writes
//!
//! Strictly: camel case, the tag of a union first, absent optional members left out, required lists
//! always written. Capabilities that are off are written as `false`, because not every reader knows the default.
//!
//! # Limits
//!
//! The types are for `serde_json`, from text or from a `Value`. Put inside a `#[serde(untagged)]` enum or a
//! `#[serde(flatten)]` field of your own, most cannot be read, because serde's own buffer does not hold JSON text.
//!
//! Unknown data is kept as text, so numbers keep all their digits and nesting has no limit. An unknown update or content block,
//! and unknown members of capabilities, keep the text of each value and their order, but not the white space between members.
//! An integer must be written as one: `1.0` is refused.
//!
//! A request that sets an option to a string under an unknown `type` is read as a choice, and the `type` is not kept.
//!
//! # Features
//!
//! None is on by default, and none changes a type.
//!
//! - `unstable`: the modules `v1::unstable` and `v2::unstable`, with the additions of drafts to a version. An addition to a
//!   type that keeps unknown members is a view of it; an addition to another type is in a `WithAdditions` around it.
//! - `v2`: the module `v2`, the draft of version 2.
//! - `schema`: `schemars::JsonSchema` for every type, and lists of all definitions, from which the project generates
//!   the JSON Schema that it compares with the published one.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod common;
#[cfg(feature = "schema")]
pub mod schema;
pub mod v1;
#[cfg(feature = "v2")]
pub mod v2;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
