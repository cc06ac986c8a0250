//! Authorization of MCP over HTTP, as every revision since 2025-03-26 describes it.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
#[cfg(feature = "client")]
pub mod client;
mod fetch;
mod jose;
mod secret;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "client")]
pub mod store;

pub use address::AddressPolicy;
pub use fetch::FetchError;
pub use secret::Secret;
