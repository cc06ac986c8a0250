//! The part of the Model Context Protocol that transports and runtimes share: revisions, error codes, HTTP headers, and
//! the members that route a message.
//!
//! Over HTTP, MCP repeats some of a message in headers. They are the revision, the method, the name of a tool and marked
//! arguments, so that a load balancer can route a request without its body. A transport writes and compares them; a client's
//! runtime and a server's runtime know the tools. All three need the same constants and the same reading of a body, so
//! these are here, and the messages' types are in `mcp-schema`.
//!
//! ```text
//!   body ── ParamsMembers::of ──▶ Routing { protocol version, method, name } ◀── compared with ──▶ headers
//!                │
//!                └── as ParamsIndex beside the message ──▶ mcp-server reads the same members without another pass
//!
//!   tool schema ── HeaderMark::all_in ──▶ which arguments a client writes into `Mcp-Param-*`, and a server compares
//! ```
//!
//! ```
//! use agentwire_jsonrpc::Request;
//! use agentwire_mcp_wire::{ParamsMembers, Revision};
//!
//! # fn main() -> Result<(), serde_json::Error> {
//! let params = r#"{"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, "name": "echo"}"#;
//! let params = agentwire_jsonrpc::RawJson::parse(params.into())?;
//! let message = Request::new(1_u64, "tools/call", Some(params)).into();
//! let members = ParamsMembers::of(&message);
//! let routing = members.routing(&message).unwrap();
//! assert_eq!(routing.revision(), Some(Revision::V2026_07_28));
//! assert_eq!((routing.method, routing.name.as_deref()), ("tools/call", Some("echo")));
//! # Ok(())
//! # }
//! ```
//!
//! # What it will not do
//!
//! It has no types of messages, no I/O and no HTTP types, and it makes no decisions: the layers above decide which revision a connection
//! speaks, and what happens to a request whose headers contradict it.
//!
//! # Invariants
//!
//! - Reading never fails. Params of another shape have no members, and their reader reports what is wrong.
//! - A repeated member routes nothing, because two readers could read it differently.
//! - A `ParamsIndex` holds the text that it was made of, and is used for that text only.

pub mod code;
mod era;
pub mod header;
mod header_marks;
pub mod meta;
pub mod method;
mod params;
mod revision;
mod routing;

pub use era::Era;
pub use header_marks::{HeaderMark, HeaderMismatch, InvalidHeaderMark};
pub use params::{Member, ParamsIndex, ParamsMembers};
pub use revision::Revision;
pub use routing::{Routing, cancelled_request, initialize_version};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
