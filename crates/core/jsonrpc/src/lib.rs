//! JSON-RPC 2.0 without I/O: bytes in, messages out, and back.
//!
//! `agentwire_jsonrpc` here is `agentwire::jsonrpc` in the crate `agentwire`.
//!
//! The protocols on top (ACP, MCP) send each other a great many small messages and now and then a very large
//! one, and the program at the other end may be anything. So this crate reads the envelope of a message once, and leaves
//! params and results as slices of the text that arrived. Text that it cannot read becomes a value that names the response. Both
//! sides of a connection may make calls.
//!
//! ```text
//!  bytes ─▶ LineDecoder ─▶ text ─▶ Frame::parse ─▶ Message ─▶ RawJson ─▶ decode() ─▶ your type
//!                 │                     │             params, result: a slice of the text
//!             LineError ────────────────┴──▶ Malformed: what to answer, and to whom
//!
//!  your type ─▶ RawJson::encode ─▶ Message ─▶ Frame::write ─▶ one line of JSON
//! ```
//!
//! ```
//! use agentwire_jsonrpc::{Frame, LineDecoder, Message, RawJson, Response};
//!
//! let mut lines = LineDecoder::default();
//! lines.push(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"add\",\"params\":[2,3]}\n");
//! let line = lines.next_line().unwrap();
//!
//! let Frame::Single(Message::Request(request)) = Frame::from(line) else { panic!("not a request") };
//! assert_eq!(request.method, "add");
//! let (a, b) = request.params.unwrap().decode::<(i64, i64)>().unwrap();
//!
//! let answer = Message::from(Response::new(request.id, Ok(RawJson::encode(&(a + b)).unwrap())));
//! let mut out = Vec::new();
//! answer.write(&mut out);
//! assert_eq!(out, br#"{"jsonrpc":"2.0","id":7,"result":5}"#);
//! ```
//!
//! # How text is judged
//!
//! Text that is not JSON is a parse error (`-32700`), answered under the id null. JSON that is not a message is an invalid
//! request (`-32600`), answered under its own id where it has one that can be read. [`Intent`] is the kind that it seems
//! to be, because only requests may be answered.
//!
//! The reading is lenient where nothing is at stake: unknown members, members in any order, `params` that is null, a
//! null `method` or `error` beside a `result`, a null `result` beside an `error`, escapes in names. It is strict where
//! two readers could disagree: a member of the envelope that stands twice, an id that is not an integer (`0.5`, `-0`) or
//! longer than 1,024 bytes, and a member anywhere in it whose name begins with `$serde_json::private::`, which
//! `serde_json` reads in two ways (see [`read`]).
//!
//! # What it will not do
//!
//! It does no I/O, has no clock and starts nothing. It matches no responses to calls and remembers no ids: that is
//! `agentwire-connection`. It defines no method, and offers no `serde_json::Value` between the wire and your type.
//!
//! # Invariants
//!
//! - No text makes it panic or use the stack in proportion to the text's nesting.
//! - Nothing that arrives is lost: each line gives a frame or an error, and each malformed frame names its response. Items
//!   that a list is read without are named: [`collect_skipped`].
//! - A string id goes back with the escapes it came with; `1` and `"1"` are two ids.
//! - What is written is one line, whatever it was made of.
//! - What was written is read back equal.
//! - How a stream was cut when it was read makes no difference to its lines.
//! - A [`LineDecoder`] holds at most its limit of a line, and a little room to read into.
//!
//! The specification is at <https://www.jsonrpc.org/specification>.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod frame;
mod id;
mod message;
mod method;
mod raw;
mod reader;
pub mod runtime;
#[cfg(feature = "schema")]
mod schema;
mod text;
pub mod wire;
mod with_causes;

pub use error::{ErrorObject, code};
pub use frame::frame_reader::{ContentLength, FrameReader};
pub use frame::line::{DEFAULT_LINE_LIMIT, LineDecoder, LineError};
pub use frame::malformed::{Intent, Malformed};
pub use frame::{DEFAULT_BATCH_LIMIT, Frame};
pub use id::RequestId;
pub use message::{Message, Notification, Request, Response};
pub use method::{NotificationMethod, RequestMethod, decode_params};
pub use raw::raw_object::RawObject;
pub use raw::skipped::{Skipped, SkippedPart, collect_skipped};
pub use raw::{Encoder, RawJson};
pub use reader::{read, read_bytes};
pub use text::nearest::{did_you_mean, nearest};
pub use text::printable::Printable;
pub use text::tree_cost::TreeCost;
pub use with_causes::WithCauses;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
