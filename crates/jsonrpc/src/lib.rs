//! JSON-RPC 2.0 without I/O.
mod envelope;
mod error;
mod frame;
mod id;
mod line;
mod message;
mod method;
mod raw;

pub use error::{ErrorObject, code};
pub use frame::{DEFAULT_BATCH_LIMIT, Frame, Intent, Malformed};
pub use id::RequestId;
pub use line::{DEFAULT_LINE_LIMIT, LineDecoder, LineError};
pub use message::{Message, Notification, Request, Response};
pub use method::{Method, Notice};
pub use raw::{Encoder, RawJson};
