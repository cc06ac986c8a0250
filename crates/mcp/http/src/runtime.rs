//! For transports and protocol runtimes: parts that another transport over HTTP builds on. **Exempt from semver**: they change
//! in any release.
//!
//! `agentwire-transport-sse` is such a transport. Its endpoint guards, limits and refuses requests as an
//! [`Endpoint`](crate::server::Endpoint) does, and its client follows redirects and reads event streams as
//! [`Http`](crate::client::Http) does.

/// Parts of a client.
#[cfg(feature = "client")]
pub mod client {
    pub use crate::client::config::Limits;
    pub use crate::client::exchange::event_stream::EventStream;
    pub use crate::client::trace::trace_headers;
    pub use crate::client::url::redirect::send_within_origin;
    pub use crate::client::url::uri::{OriginError, is_same_origin, within_origin};
}

/// Parts of a server.
#[cfg(feature = "server")]
pub mod server {
    pub use crate::server::admission::guard::Guard;
    pub use crate::server::admission::operation::check_operations;
    pub use crate::server::admission::quota::{Quota, QuotaExceeded, Reservation};
    pub use crate::server::config::Limits;
    pub use crate::server::endpoint::drain::{Drain, cut_error};
    pub use crate::server::request::body_buffer::BodyBuffer;
    pub use crate::server::request::post::read_frame;
    pub use crate::server::response::refusal::Refusal;
    pub use crate::server::session::deliver::cancelled_by;
    pub use crate::server::session::session_table::{NoSession, SessionTable};
}
