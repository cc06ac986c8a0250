//! Server-sent events: the form in which a stream of messages stands in an HTTP body.
//!
//! The format is that of <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

#[cfg(feature = "client")]
mod decode;
#[cfg(feature = "server")]
mod encode;

#[cfg(feature = "client")]
pub use decode::{DEFAULT_EVENT_LIMIT, DecodeError, Decoder, Event};
#[cfg(feature = "server")]
pub use encode::{END, begin, comment, event, retry};
