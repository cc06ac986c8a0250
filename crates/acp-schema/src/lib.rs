//! The words of the [Agent Client Protocol](https://agentclientprotocol.com): what an editor and an agent say to
//! each other, as Rust types.
//!
//! This crate reads and writes messages. It sends none, answers none and remembers none: whoever only looks at
//! transcripts needs nothing else, and a runtime of any kind can be put on top.
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
//! let said = SessionNotification::message(&prompt.session_id, "Done.");
//! let text = serde_json::to_string(&said)?;
//! assert_eq!(serde_json::from_str::<SessionNotification>(&text)?, said);
//!
//! // What a newer agent says is kept, and written back as it came.
//! let odd = r#"{"sessionId":"session-1","update":{"sessionUpdate":"sang","song":7}}"#;
//! let heard: SessionNotification = serde_json::from_str(odd)?;
//! assert!(matches!(heard.update, SessionUpdate::Unknown(_)));
//! assert_eq!(serde_json::to_string(&heard)?, odd);
//!
//! assert_eq!(PromptResponse::new(StopReason::EndTurn).stop_reason.as_str(), "end_turn");
//! # Ok(())
//! # }
//! ```
//!
//! # How it reads
//!
//! Leniently where the protocol's schema says so, member by member, and strictly everywhere else:
//!
//! - A malformed optional member counts as missing where the schema has the keyword `x-deserialize-default-on-error`,
//!   whatever the JSON in it; a bad item of a list is dropped where it has `x-deserialize-skip-invalid-items`; `null` is
//!   an empty list where it has `x-deserialize-default-on-null`. Any other fault is an error.
//! - A word that is not in the schema is kept in a variant `Other(String)` ([`ToolKind`](v1::ToolKind), whose schema has
//!   a word `other`, calls it `Unknown`). An object with a foreign tag is kept whole in a variant `Unknown`.
//! - Closed are [`RequestPermissionOutcome`](v1::RequestPermissionOutcome), because what is no refusal must not pass for
//!   consent, and the value of [`SetSessionConfigOptionRequest`](v1::SetSessionConfigOptionRequest), because nobody can
//!   set an option to what they do not know. The draft of version 2 publishes both as open.
//! - `_meta` is kept everywhere; other foreign members only in capabilities, where real peers put them.
//!
//! # How it writes
//!
//! Strictly: camel case, the tag of a union first, optional members left out when there is nothing to say, required
//! lists also when empty. Capabilities that are off are written as `false`, because not every reader knows the default.
//!
//! # Limits
//!
//! The types are for `serde_json`, from text or from a `Value`. Put inside a `#[serde(untagged)]` enum or a
//! `#[serde(flatten)]` field of your own, most cannot be read, because serde's own buffer does not hold JSON text.
//!
//! What is kept as it came is kept as text: numbers have all their digits, and nothing is too deep or too strange to be kept.
//! Of an unknown update or content block, and of foreign members of capabilities, each value is kept so, and their order;
//! white space between the members is not. A whole number must be written as one: `1.0` is no integer here.
//!
//! A request that sets an option to a string under a foreign `type` is read as a choice, and the `type` is not kept.
//!
//! # Features
//!
//! None is on by default, and none changes a type.
//!
//! - `unstable`: the modules `v1::unstable` and `v2::unstable`, with what drafts add to a version. What they add to a
//!   type that keeps foreign members is a view of it; what they add to another is in a `Draft` around it.
//! - `v2`: the module `v2`, the draft of version 2.
//! - `schema`: `schemars::JsonSchema` for every type, and lists of all definitions, from which the project generates
//!   the JSON Schema that it compares with the published one.

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
