//! The client side: an `HttpClient` that obtains tokens, sends and renews them.

mod code_flow;
mod config;
mod discovery;
mod dpop;
mod error;
mod grant;
mod identity;
mod keeper;
mod layer;
mod login;
mod registration;
mod token_endpoint;
mod user_agent;
mod warning;

pub use config::{AuthConfig, DEFAULT_STEP_UP_LIMIT, DEFAULT_TIMEOUT, DpopMode, ResourceParameter};
pub use error::{AuthError, Mismatch, Remedy};
pub use grant::{Assertion, Grant, IdentityProvider};
pub use identity::{ClientIdentity, InvalidKey};
pub use layer::{Authorization, AuthorizedClient};
pub use login::{Browser, LoopbackHost};
pub use user_agent::{LoginError, RedirectListener, UserAgent};
pub use warning::AuthWarning;
