//! What a request brings: its head, its headers, its body, and where it belongs.

pub(crate) mod body_buffer;
pub(crate) mod dispatch;
pub(crate) mod fields;
pub(crate) mod head;
pub(crate) mod post;
