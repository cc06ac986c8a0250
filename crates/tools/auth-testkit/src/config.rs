//! The server's settings.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Map, Value};

use crate::body::AnswerBody;
use crate::client::RegisteredClient;

/// Where the authorization server's metadata is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetadataPlace {
    /// `/.well-known/oauth-authorization-server` before the issuer's path (RFC 8414, 3.1).
    OauthInserted,
    /// `/.well-known/openid-configuration` before the issuer's path (RFC 8414, 5).
    OpenIdInserted,
    /// `/.well-known/openid-configuration` after the issuer's path (OpenID Connect Discovery, 4).
    OpenIdAppended,
}

/// Where the resource's metadata is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResourceMetadataPlace {
    /// `/.well-known/oauth-protected-resource` before the resource's path (RFC 9728, 3.1).
    Path,
    /// `/.well-known/oauth-protected-resource` alone.
    Root,
}

/// The form of an access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenFormat {
    /// A JWT (RFC 9068) signed by ES256.
    Es256,
    /// A JWT (RFC 9068) signed by RS256.
    Rs256,
    /// A random string, for introspection.
    Opaque,
}

/// Who receives a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefreshTokens {
    /// Each client that a person has authorized.
    Always,
    /// A client that was granted `offline_access`.
    OfflineAccess,
    /// No client.
    Never,
}

/// The need for proofs of possession (RFC 9449).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DpopMode {
    /// The metadata does not offer them, and proofs are ignored.
    Off,
    /// A token is bound to the key of a proof, if one is sent.
    Optional,
    /// A token request without a proof is refused.
    Required,
}

/// Answers requests to the resource that have a valid token.
pub(crate) type Handler = Box<dyn Fn(Request<Bytes>) -> HandlerFuture + Send + Sync>;
pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Response<AnswerBody>> + Send>>;

/// Changes a metadata document before it is sent.
pub(crate) type Edit = Box<dyn Fn(&mut Map<String, Value>) + Send + Sync>;

pub(crate) struct Config {
    pub(crate) issuer_path: String,
    pub(crate) resource_path: String,
    pub(crate) same_origin: bool,
    pub(crate) metadata_at: Vec<MetadataPlace>,
    pub(crate) resource_metadata_at: Vec<ResourceMetadataPlace>,
    pub(crate) registration: bool,
    pub(crate) client_documents: bool,
    pub(crate) response_iss: bool,
    pub(crate) clients: Vec<RegisteredClient>,
    pub(crate) documents: BTreeMap<String, Value>,
    pub(crate) scopes_supported: Vec<String>,
    pub(crate) challenge_metadata: bool,
    pub(crate) challenge_scope: bool,
    pub(crate) required_scope: String,
    pub(crate) path_scopes: BTreeMap<String, String>,
    pub(crate) tool_scopes: BTreeMap<String, String>,
    pub(crate) subject: String,
    pub(crate) token_format: TokenFormat,
    pub(crate) refresh_tokens: RefreshTokens,
    pub(crate) access_token_lifetime: Duration,
    pub(crate) refresh_token_lifetime: Option<Duration>,
    pub(crate) code_lifetime: Duration,
    pub(crate) token_delay: Option<Duration>,
    pub(crate) introspection_auth: bool,
    pub(crate) dpop: DpopMode,
    pub(crate) dpop_nonces: bool,
    pub(crate) strict_resource: bool,
    pub(crate) handler: Option<Handler>,
    pub(crate) edit_metadata: Option<Edit>,
    pub(crate) edit_resource_metadata: Option<Edit>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            issuer_path: String::new(),
            resource_path: "/mcp".into(),
            same_origin: false,
            metadata_at: vec![
                MetadataPlace::OauthInserted,
                MetadataPlace::OpenIdInserted,
                MetadataPlace::OpenIdAppended,
            ],
            resource_metadata_at: vec![ResourceMetadataPlace::Path, ResourceMetadataPlace::Root],
            registration: true,
            client_documents: true,
            response_iss: true,
            clients: Vec::new(),
            documents: BTreeMap::new(),
            scopes_supported: ["tools:read", "tools:write", "openid", "offline_access"]
                .map(String::from)
                .to_vec(),
            challenge_metadata: true,
            challenge_scope: true,
            required_scope: "tools:read".into(),
            path_scopes: BTreeMap::new(),
            tool_scopes: BTreeMap::new(),
            subject: "user-1".into(),
            token_format: TokenFormat::Es256,
            refresh_tokens: RefreshTokens::Always,
            access_token_lifetime: Duration::from_secs(3600),
            refresh_token_lifetime: None,
            code_lifetime: Duration::from_secs(60),
            token_delay: None,
            introspection_auth: false,
            dpop: DpopMode::Optional,
            dpop_nonces: false,
            strict_resource: true,
            handler: None,
            edit_metadata: None,
            edit_resource_metadata: None,
        }
    }
}
