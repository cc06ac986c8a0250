//! Server-sent events: the format of a stream of messages in an HTTP body.
//!
//! A [`Decoder`] cuts the body of a response into [`Event`]s as it arrives; [`event`] and its kin write them. Neither
//! does any I/O, and neither knows anything of MCP:
//!
//! ```
//! use agentwire_transport_http::sse::{self, Decoder};
//!
//! let mut body = Vec::new();
//! sse::comment(&mut body);
//! sse::event(Some("greeting"), Some("1"), "hello\nworld", &mut body);
//!
//! let mut decoder = Decoder::default();
//! decoder.push(body.into());
//! let event = decoder.next_event()?.expect("all of it is there");
//! assert_eq!(event.name.as_deref(), Some("greeting"));
//! assert_eq!(event.id.as_deref(), Some("1"));
//! assert_eq!(event.data.as_deref(), Some("hello\nworld"));
//! # Ok::<(), sse::DecodeError>(())
//! ```
//!
//! Both are complete: the format is that of
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html>, with the differences that the [`Decoder`] lists.

mod decode;
mod encode;

pub use decode::{DEFAULT_EVENT_LIMIT, DecodeError, Decoder, Event};
#[cfg(feature = "server")]
pub(crate) use encode::decimal;
pub use encode::{END, begin, comment, event, retry};
