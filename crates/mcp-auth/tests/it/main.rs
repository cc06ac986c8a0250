//! Tests of the crate from outside.

#[cfg(all(feature = "client", feature = "hyper"))]
mod both;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod login;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "client")]
mod store;
