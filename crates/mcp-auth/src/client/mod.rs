//! The client side: an `HttpClient` that obtains tokens, sends and renews them.

mod error;
mod login;
mod user_agent;

pub use error::{AuthError, Mismatch};
pub use login::{Browser, LoopbackHost};
pub use user_agent::{LoginError, RedirectListener, UserAgent};
