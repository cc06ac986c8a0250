#![doc = include_str!("../README.md")]

mod body;
mod builder;
mod client;
mod config;
mod context;
mod endpoint;
mod fault;
mod log;
mod mint;
mod reply;
mod resource;
mod route;
mod serve;
mod server;
mod signer;
mod store;
mod verify;

pub use body::BoxError;
pub use builder::Builder;
pub use client::RegisteredClient;
pub use config::{DpopMode, MetadataPlace, RefreshTokens, ResourceMetadataPlace, TokenFormat};
pub use fault::{Fault, UnknownFault};
pub use log::{Endpoint, RecordedRequest, RequestLog, Site};
pub use mint::TokenSpec;
pub use resource::Authorized;
pub use server::AuthServer;
pub use signer::Signer;
pub use store::Counters;
