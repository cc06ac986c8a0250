//! From settings to a running server.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Body;
use serde_json::{Map, Value};
use tokio::net::TcpListener;

use crate::body::BoxError;
use crate::client::RegisteredClient;
use crate::config::{Config, DpopMode, MetadataPlace, RefreshTokens, ResourceMetadataPlace, TokenFormat};
use crate::context::{Context, Urls};
use crate::fault::Fault;
use crate::log::Site;
use crate::serve::serve;
use crate::server::AuthServer;

impl AuthServer {
    /// The settings of a new server.
    pub fn builder() -> Builder {
        Builder { config: Config::default(), faults: Vec::new(), port: 0 }
    }
}

/// The settings of a server. [`Builder::start`] starts it.
#[must_use = "a server starts with `start`"]
pub struct Builder {
    config: Config,
    faults: Vec<Fault>,
    port: u16,
}

impl Builder {
    /// The path of the issuer, with a slash at its beginning and none at its end, as `/tenant1` (default: empty).
    pub fn issuer_path(mut self, path: impl Into<String>) -> Self {
        self.config.issuer_path = path.into();
        self
    }

    /// The path of the protected resource (default: `/mcp`). Empty, the resource is the origin.
    pub fn resource_path(mut self, path: impl Into<String>) -> Self {
        self.config.resource_path = path.into();
        self
    }

    /// Serves the resource on the authorization server's origin (default: on its own one).
    pub fn same_origin(mut self, same: bool) -> Self {
        self.config.same_origin = same;
        self
    }

    /// The authorization server's port (default: 0, a free one). Two servers after each other on one port are the same issuer.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Where the authorization server's metadata is served (default: at all three places). Nowhere, it is a server without
    /// metadata, whose endpoints are those of revision 2025-03-26: `/authorize`, `/token`, `/register`.
    pub fn metadata_at(mut self, places: &[MetadataPlace]) -> Self {
        self.config.metadata_at = places.to_vec();
        self
    }

    /// Where the resource's metadata is served (default: at both places).
    pub fn resource_metadata_at(mut self, places: &[ResourceMetadataPlace]) -> Self {
        self.config.resource_metadata_at = places.to_vec();
        self
    }

    /// Whether challenges name the resource's metadata (default: yes).
    pub fn challenge_metadata(mut self, named: bool) -> Self {
        self.config.challenge_metadata = named;
        self
    }

    /// Whether a challenge with status 401 names the scopes that are needed (default: yes). One with 403 always does.
    pub fn challenge_scope(mut self, named: bool) -> Self {
        self.config.challenge_scope = named;
        self
    }

    /// Whether clients may register (default: yes).
    pub fn registration(mut self, open: bool) -> Self {
        self.config.registration = open;
        self
    }

    /// Whether client id metadata documents are accepted (default: yes).
    pub fn client_documents(mut self, accepted: bool) -> Self {
        self.config.client_documents = accepted;
        self
    }

    /// Adds a client id metadata document: what is at the URL that is the client's id. The server never requests the URL.
    pub fn client_document(mut self, url: impl Into<String>, document: Value) -> Self {
        self.config.documents.insert(url.into(), document);
        self
    }

    /// Adds a client that is known before it asks.
    pub fn client(mut self, client: RegisteredClient) -> Self {
        self.config.clients.push(client);
        self
    }

    /// Whether authorization responses have `iss` (RFC 9207), and the metadata declares it (default: yes).
    pub fn response_iss(mut self, sent: bool) -> Self {
        self.config.response_iss = sent;
        self
    }

    /// The scopes that exist (default: `tools:read`, `tools:write`, `openid`, `offline_access`). Others are refused.
    pub fn scopes_supported(mut self, scopes: &[&str]) -> Self {
        self.config.scopes_supported = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        self
    }

    /// The scopes that each request to the resource needs, divided by spaces (default: `tools:read`). Empty, it needs none.
    pub fn required_scope(mut self, scope: impl Into<String>) -> Self {
        self.config.required_scope = scope.into();
        self
    }

    /// The scopes that requests to a path of the resource need as well.
    pub fn path_scope(mut self, path: impl Into<String>, scope: impl Into<String>) -> Self {
        self.config.path_scopes.insert(path.into(), scope.into());
        self
    }

    /// The scopes that a call of a tool of MCP needs as well: a message with the method `tools/call` and this name.
    pub fn tool_scope(mut self, tool: impl Into<String>, scope: impl Into<String>) -> Self {
        self.config.tool_scopes.insert(tool.into(), scope.into());
        self
    }

    /// The `sub` of the person who agrees to everything (default: `user-1`).
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.config.subject = subject.into();
        self
    }

    /// The form of access tokens (default: JWTs signed by ES256).
    pub fn token_format(mut self, format: TokenFormat) -> Self {
        self.config.token_format = format;
        self
    }

    /// Who receives a refresh token (default: always).
    pub fn refresh_tokens(mut self, when: RefreshTokens) -> Self {
        self.config.refresh_tokens = when;
        self
    }

    /// How long access tokens are valid (default: one hour). The resource and the introspection count milliseconds.
    /// `expires_in` is in whole seconds, rounded down; `exp` in a JWT is rounded up.
    pub fn access_token_lifetime(mut self, lifetime: Duration) -> Self {
        self.config.access_token_lifetime = lifetime;
        self
    }

    /// How long refresh tokens are valid (default: for ever).
    pub fn refresh_token_lifetime(mut self, lifetime: Duration) -> Self {
        self.config.refresh_token_lifetime = Some(lifetime);
        self
    }

    /// How long codes are valid (default: one minute).
    pub fn code_lifetime(mut self, lifetime: Duration) -> Self {
        self.config.code_lifetime = lifetime;
        self
    }

    /// How long the token endpoint waits before it looks at a request (default: not at all), so that refreshes meet each other.
    pub fn token_delay(mut self, delay: Duration) -> Self {
        self.config.token_delay = Some(delay);
        self
    }

    /// Whether only a client with credentials may introspect (RFC 7662, 2.1), which is then one with a secret or a key
    /// (default: no, so that a test needs no client for that). Credentials that are sent are always checked.
    pub fn introspection_auth(mut self, needed: bool) -> Self {
        self.config.introspection_auth = needed;
        self
    }

    /// The need for proofs of possession (default: optional).
    pub fn dpop(mut self, mode: DpopMode) -> Self {
        self.config.dpop = mode;
        self
    }

    /// Whether proofs need the server's nonce (default: no). The server and the resource have the same one.
    pub fn dpop_nonces(mut self, needed: bool) -> Self {
        self.config.dpop_nonces = needed;
        self
    }

    /// Whether token requests need the same `resource` as the authorization request, byte for byte, or no
    /// `resource` if that had none (default: yes).
    pub fn strict_resource(mut self, strict: bool) -> Self {
        self.config.strict_resource = strict;
        self
    }

    /// Changes the authorization server's metadata before it is sent.
    pub fn edit_metadata(mut self, edit: impl Fn(&mut Map<String, Value>) + Send + Sync + 'static) -> Self {
        self.config.edit_metadata = Some(Box::new(edit));
        self
    }

    /// Changes the resource's metadata before it is sent.
    pub fn edit_resource_metadata(
        mut self,
        edit: impl Fn(&mut Map<String, Value>) + Send + Sync + 'static,
    ) -> Self {
        self.config.edit_resource_metadata = Some(Box::new(edit));
        self
    }

    /// Answers requests to the resource that have a valid token (default: a JSON object that names their sender).
    /// The request's extensions have an [`Authorized`](crate::Authorized). Its URI has the path and the query only.
    pub fn handler<F, R, B>(mut self, handler: F) -> Self
    where
        F: Fn(Request<Bytes>) -> R + Send + Sync + 'static,
        R: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        self.config.handler = Some(Box::new(move |request| {
            let response = handler(request);
            Box::pin(async move { response.await.map(|body| body.map_err(Into::into).boxed_unsync()) })
        }));
        self
    }

    /// Starts with a fault switched on.
    pub fn misbehave(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Listens on free ports of 127.0.0.1, and serves them in tasks of the current tokio runtime.
    ///
    /// # Errors
    ///
    /// If a port cannot be opened.
    pub async fn start(self) -> io::Result<AuthServer> {
        let server = TcpListener::bind(("127.0.0.1", self.port)).await?;
        let other = TcpListener::bind(("127.0.0.1", 0)).await?;
        let resource = match self.config.same_origin {
            true => None,
            false => Some(TcpListener::bind(("127.0.0.1", 0)).await?),
        };
        let urls = Urls {
            server: origin(&server)?,
            resource: origin(resource.as_ref().unwrap_or(&server))?,
            other: origin(&other)?,
        };
        let context = Arc::new(Context::new(self.config, urls));
        self.faults.into_iter().for_each(|fault| context.faults.set(fault, u64::MAX));
        let listeners =
            [(Some(server), Site::AuthServer), (resource, Site::Resource), (Some(other), Site::OtherOrigin)];
        let mut tasks = Vec::new();
        for (listener, site) in listeners {
            if let Some(listener) = listener {
                tasks.push(tokio::spawn(serve(listener, site, Arc::clone(&context))).abort_handle());
            }
        }
        Ok(AuthServer::new(context, tasks))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("faults", &self.faults).finish_non_exhaustive()
    }
}

fn origin(listener: &TcpListener) -> io::Result<String> {
    Ok(format!("http://{}", listener.local_addr()?))
}
