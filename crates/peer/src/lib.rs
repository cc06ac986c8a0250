//! The async driver of a JSON-RPC connection.
mod call;
mod clock;
mod config;
mod driver;
mod error;
mod handler;
mod peer;
mod room;
mod shared;
mod turn;
mod work;

pub use agentwire_connection::{CallId, Dialect};
pub use call::{Call, Notify};
pub use clock::Clock;
#[cfg(feature = "tokio")]
pub use clock::TokioClock;
pub use config::Config;
pub use driver::{Driver, driver};
pub use error::{CallError, Closed};
pub use handler::{Cancelled, Handler, RequestContext};
pub use peer::{Peer, WhenClosed};
