//! The client side: an `HttpClient` that obtains tokens, sends and renews them.

mod error;
mod user_agent;

pub use error::{AuthError, Mismatch};
pub use user_agent::{LoginError, RedirectListener, UserAgent};
