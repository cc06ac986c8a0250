//! The parts of a request: its head, headers and body, and the session it names.

pub(crate) mod body_buffer;
pub(crate) mod dispatch;
pub(crate) mod fields;
pub(crate) mod head;
pub(crate) mod post;
pub(crate) mod session_request;
