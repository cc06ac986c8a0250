//! A running server, as a test sees it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::client::RegisteredClient;
use crate::context::Context;
use crate::fault::Fault;
use crate::log::RequestLog;
use crate::store::{Counters, Grant};
use crate::tokens::mint;
use crate::tokens::mint::TokenSpec;
use crate::tokens::signer::{Signer, random};

/// A running authorization server with a protected resource. Dropping it closes its ports and its connections.
pub struct AuthServer {
    context: Arc<Context>,
    tasks: Vec<AbortHandle>,
}

impl AuthServer {
    pub(crate) fn new(context: Arc<Context>, tasks: Vec<AbortHandle>) -> Self {
        Self { context, tasks }
    }

    /// The issuer: the origin and the issuer's path, without a slash at the end.
    pub fn issuer(&self) -> String {
        self.context.issuer()
    }

    /// The URL of an endpoint: `authorize`, `token`, `register`, `introspect`, `revoke` or `jwks`.
    pub fn endpoint(&self, name: &str) -> String {
        self.context.endpoint(name)
    }

    /// The URL of the protected resource, which is also its identifier.
    pub fn resource_url(&self) -> String {
        self.context.resource_url()
    }

    /// The origin that faults redirect to. A careful client never sends anything there.
    pub fn other_origin(&self) -> String {
        self.context.urls.other.clone()
    }

    /// Switches a fault on.
    pub fn set(&self, fault: Fault) {
        self.set_times(fault, u64::MAX);
    }

    /// Switches a fault on for the next so many times that it occurs. The server behaves again afterwards.
    /// Where a fault shows in two answers, as [`Fault::IssUnexpected`] in the metadata and the response, it occurs in each.
    pub fn set_times(&self, fault: Fault, times: u64) {
        self.context.faults.set(fault, times);
    }

    /// Switches a fault off.
    pub fn clear(&self, fault: Fault) {
        self.set_times(fault, 0);
    }

    /// Switches all faults off.
    pub fn clear_all(&self) {
        self.context.faults.clear();
    }

    /// How often a fault has occurred: so a test knows that its client has met it.
    pub fn hits(&self, fault: Fault) -> u64 {
        self.context.faults.hits(fault)
    }

    /// The requests received until now.
    pub fn log(&self) -> RequestLog {
        self.context.log.snapshot()
    }

    /// Forgets the requests received until now.
    pub fn clear_log(&self) {
        self.context.log.clear();
    }

    /// How often things have happened.
    pub fn counters(&self) -> Counters {
        self.context.store().counters
    }

    /// How many refresh tokens were presented again after they were replaced.
    pub fn reused_refresh_tokens(&self) -> u64 {
        self.counters().reused_refresh_tokens
    }

    /// Every token, code, assertion, verifier and client's secret that the server has issued or received, in order: none of
    /// them may be in what a test prints. At most 65,536 are kept, the latest; those of fewer than eight bytes are not.
    pub fn secrets(&self) -> Vec<String> {
        self.context.store().secrets.keys().cloned().collect()
    }

    /// Adds or replaces a client.
    pub fn add_client(&self, client: RegisteredClient) {
        let mut store = self.context.store();
        if let Some(secret) = client.auth.secret() {
            store.remember(secret);
        }
        store.clients.insert(client.id.clone(), client);
    }

    /// Forgets all clients, also those that were registered before the start.
    pub fn forget_clients(&self) {
        self.context.store().clients.clear();
    }

    /// Accepts a value of `resource` besides the server's own, such as the URL of a resource server under test.
    pub fn accept_resource(&self, resource: impl Into<String>) {
        self.context.store().resources.insert(resource.into());
    }

    /// Accepts assertions of an issuer (jwt-bearer), verified by these public keys. The server trusts no issuer at first.
    pub fn trust(&self, issuer: impl Into<String>, keys: &[Value]) {
        self.context.store().trusted.insert(issuer.into(), keys.to_vec());
    }

    /// The key that signs tokens now.
    pub fn signer(&self) -> Signer {
        self.context.signer()
    }

    /// The public keys, as the key set has them.
    pub fn public_keys(&self) -> Vec<Value> {
        self.context.public_keys()
    }

    /// The key set, without any fault.
    pub fn jwks(&self) -> Value {
        json!({ "keys": self.public_keys() })
    }

    /// Signs with a new key from now on. The one before stays in the key set, older ones leave it.
    pub fn rotate_keys(&self) {
        self.context.rotate_keys();
    }

    /// Demands another nonce of proofs from now on, if it demands any.
    pub fn rotate_dpop_nonce(&self) {
        self.context.store().nonce = random(12);
    }

    /// Makes an access token without a request.
    pub fn mint(&self, spec: TokenSpec) -> String {
        let config = &self.context.config;
        let family = self.context.store().new_family();
        let grant = Grant {
            client: spec.client,
            subject: spec.subject.unwrap_or_else(|| config.subject.clone()),
            scope: spec.scope,
            resource: spec.audience,
            key: spec.key,
            family,
        };
        let lifetime = spec.lifetime.unwrap_or(config.access_token_lifetime);
        mint::access_token(&self.context, grant, lifetime, spec.claims)
    }

    /// Makes an ID token of this server for a client, as a subject token for a token exchange.
    pub fn id_token(&self, client: &str, subject: &str) -> String {
        mint::id_token(&self.context, client, subject)
    }

    /// Ends the validity of all access tokens. Refresh tokens stay valid.
    pub fn revoke_access_tokens(&self) {
        self.context.store().access_tokens.values_mut().for_each(|token| token.is_revoked = true);
    }

    /// Ends the validity of all access tokens and refresh tokens.
    pub fn revoke_all(&self) {
        let mut store = self.context.store();
        store.access_tokens.clear();
        store.refresh_tokens.clear();
    }

    /// Sets the server's clock ahead, so that tokens and codes expire without waiting. The client's clock is its own: what
    /// clients sign is checked by the real time.
    pub fn advance(&self, by: Duration) {
        self.context.advance(by);
    }
}

impl Drop for AuthServer {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl fmt::Debug for AuthServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthServer")
            .field("issuer", &self.issuer())
            .field("resource", &self.resource_url())
            .finish_non_exhaustive()
    }
}
