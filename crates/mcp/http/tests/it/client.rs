//! The client against scripted servers.

mod advisories;
mod fire;
mod gzip;
mod limits;
pub(crate) mod mock;
mod modern;
mod refusals;
mod session;
mod streams;
#[cfg(all(feature = "http2", any(feature = "rustls", feature = "rustls-ring")))]
mod tls;
mod unreadable;
