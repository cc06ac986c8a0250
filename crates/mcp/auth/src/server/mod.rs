//! The server side: a tower layer that checks access tokens, and the metadata by which clients find the authorization server.
//!
//! ```text
//!               no or no valid token: 401     the scopes of the operation: 403
//!                       ▲                              ▲
//!  request ──▶ TokenLayer ── Principal, AccessToken ──▶ Endpoint ──▶ sessions, handlers
//!                  │          OperationCheck
//!                  └─ Issuer: a key set, introspection; or a check of your own
//! ```
//!
//! Sessions, event streams, tasks and sealed states are bound to the [`Principal`](agentwire_transport_http::server::Principal),
//! which is the issuer and the subject of the token. With the token of another caller, a session does not exist.
//!
//! A whole server, with the feature `hyper`:
//!
//! ```no_run
//! # #[cfg(feature = "hyper")]
//! # async fn run(
//! #     handlers: impl agentwire_transport::Service<agentwire_transport_http::server::Connection> + Send + Sync + 'static,
//! # ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! use std::time::Duration;
//!
//! use agentwire_mcp_auth::server::{Issuer, ResourceServer};
//! use agentwire_transport_http::client::Hyper;
//! use agentwire_transport_http::server::{Endpoint, EndpointConfig, Routes, serve};
//!
//! let http = Hyper::new(Duration::from_secs(10))?;
//! let auth = ResourceServer::new("https://mcp.example/mcp")?
//!     .issuer(Issuer::jwks("https://login.example", http))
//!     .scopes(["mcp"])
//!     .tool_scopes("delete_file", ["files:write"])
//!     .on_rejection(|why, caller| eprintln!("{caller:?}: {why}"));
//! // `handlers` is a `Server` of `agentwire-mcp-server`.
//! let endpoint = Endpoint::serving(EndpointConfig::new().hosts(["mcp.example"]), handlers);
//! let routes = auth.mount(Routes::new().at("/mcp", endpoint));
//! serve(tokio::net::TcpListener::bind("127.0.0.1:8080").await?, routes).await;
//! # Ok(())
//! # }
//! ```
//!
//! A handler finds the token in the head of its request, which in `agentwire-mcp-server` is `Context::source`:
//!
//! ```
//! use agentwire_mcp_auth::server::{AccessToken, InsufficientScope};
//! use agentwire_transport_http::server::Head;
//!
//! /// Whose file is deleted. More than the tool's own scopes is needed for a folder that is shared.
//! fn owner(head: &Head, path: &str) -> Result<Option<String>, InsufficientScope> {
//!     let Some(token) = head.extensions().get::<AccessToken>() else { return Ok(None) };
//!     if path.starts_with("/shared/") {
//!         token.require(["mcp", "files:write", "files:shared"])?;
//!     }
//!     Ok(token.subject().map(str::to_owned))
//! }
//! ```
//!
//! In axum, the layer goes around the endpoint, and the metadata beside it:
//!
//! ```
//! use agentwire_mcp_auth::server::ResourceServer;
//! use agentwire_transport_http::server::Endpoint;
//! use axum::Router;
//!
//! fn router(auth: &ResourceServer, endpoint: &Endpoint) -> Router {
//!     let pages = endpoint.clone();
//!     let layer = auth.layer().cors(move |headers| pages.cors(headers));
//!     let protected = Router::new().route_service("/mcp", endpoint.clone()).layer(layer);
//!     auth.metadata_paths()
//!         .iter()
//!         .fold(protected, |router, path| router.route_service(path, auth.metadata()))
//! }
//! ```
//!
//! # What it will not do
//!
//! It passes no token on to other servers, and trusts no header of a proxy: the public URL is configured. A stream that has begun
//! is not ended when its token expires; the next request of its client is refused.

mod access_token;
mod admission;
mod challenge;
mod dpop;
mod issuer;
mod layer;
mod metadata;
#[cfg(feature = "hyper")]
mod mount;
mod public_url;
mod rejection;
mod resource_server;
mod scopes;

pub use access_token::{AccessToken, InsufficientScope};
pub use dpop::DpopPolicy;
pub use dpop::replay::{MemoryReplayStore, ReplayStore};
pub use dpop::shared_replay::SharedReplayStore;
pub use issuer::Issuer;
pub use layer::{TokenLayer, TokenService};
pub use metadata::ResourceMetadata;
pub use public_url::InvalidPublicUrl;
pub use rejection::Rejection;
pub use resource_server::ResourceServer;
