//! The server side: an endpoint behind the layer, and an authorization server that is a table of documents.

mod attacks;
mod axum_router;
mod dpop;
mod faults;
mod hardening;
mod introspection;
mod keys;
mod metadata;
#[cfg(feature = "hyper")]
mod mount;
mod scopes;
mod sessions;
mod support;
mod tokens;
