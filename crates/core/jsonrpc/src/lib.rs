//! JSON-RPC 2.0 without I/O: turns bytes into messages and messages into bytes.
//!
//! `agentwire_jsonrpc` here is `agentwire::jsonrpc` in the crate `agentwire`.
//!
//! Peers of the protocols on top (ACP, MCP) send many small messages and sometimes a very large one, and a peer may be any
//! program. So this crate reads the envelope of a message once, and leaves params and results as slices of the text that
//! arrived. Text that it cannot read becomes a [`Malformed`]: an error, and an [`Intent`] that decides whether the error is sent as a
//! response, fails a call, or is only reported. Both sides of a connection may make calls.
//!
//! ```text
//!  bytes ─▶ LineDecoder ─▶ text ─▶ Frame::parse ─▶ Message ─▶ RawJson ─▶ decode() ─▶ your type
//!                 │                     │             params, result: a slice of the text
//!             LineError ────────────────┴──▶ Malformed: the error, and the kind of message that the text resembles
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
//! # Errors in text
//!
//! Text that is not JSON is a parse error (`-32700`), answered under the id null. JSON that is not a message is an invalid
//! request (`-32600`), answered under its own id if that can be read. Only requests may be answered, so [`Intent`] has the
//! kind of message that the text resembles.
//!
//! Reading is lenient where the meaning is clear: unknown members, members in any order, `params` that is null, a
//! null `method` or `error` beside a `result`, a null `result` beside an `error`, escapes in names. It is strict where
//! two readers could disagree: a repeated member of the envelope, a numeric id that is not an integer (`0.5`, `-0`), an id that is
//! longer than 1,024 bytes, and a member at any depth whose name begins with `$serde_json::private::`, which `serde_json` reads in
//! two ways (see [`read`]).
//!
//! # What it will not do
//!
//! It does no I/O, has no clock and spawns nothing. It does not match responses to calls or keep ids: `agentwire-connection`
//! does. It defines no methods, and builds no `serde_json::Value` between the wire and your type.
//!
//! # Invariants
//!
//! - No text causes a panic, or stack use in proportion to the text's nesting.
//! - Each line becomes a frame or an error. Malformed text never ends the stream. Items that are left out of a list are reported by
//!   [`collect_skipped`].
//! - A string id is sent back with its original escapes; `1` and `"1"` are two ids.
//! - Every message is written as one line.
//! - A message that was written is read back equal.
//! - The boundaries of reads do not affect the lines of a stream.
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
