//! Makes access tokens and ID tokens.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::config::TokenFormat;
use crate::context::{Context, millis};
use crate::fault::Fault;
use crate::store::{AccessToken, Grant};
use crate::tokens::signer::{Signer, random, sign_hmac, unsigned};

/// The faults of which a token has one.
const FAULTS: [Fault; 12] = [
    Fault::TokenAlgNone,
    Fault::TokenHmacWithPublicKey,
    Fault::TokenSignatureWrong,
    Fault::TokenEmbeddedKey,
    Fault::TokenKeyIdPath,
    Fault::TokenAudienceWrong,
    Fault::TokenAudienceMissing,
    Fault::TokenIssuerWrong,
    Fault::TokenExpired,
    Fault::TokenExpiryMissing,
    Fault::TokenNotYetValid,
    Fault::TokenTypOfIdToken,
];

/// An access token that [`AuthServer::mint`](crate::AuthServer::mint) makes without any request: for tests of resource servers.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_mcp_auth_testkit::TokenSpec;
///
/// let spec = TokenSpec::new("tools:read tools:write").audience("https://mcp.example/mcp").lifetime(Duration::from_secs(1));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TokenSpec {
    pub(crate) scope: String,
    pub(crate) audience: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) client: String,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) key: Option<String>,
    pub(crate) claims: BTreeMap<String, Value>,
}

impl TokenSpec {
    /// A token with these scopes, divided by spaces, for the server's resource, person and lifetime.
    pub fn new(scope: impl Into<String>) -> Self {
        Self {
            scope: scope.into(),
            audience: None,
            subject: None,
            client: "minted".into(),
            lifetime: None,
            key: None,
            claims: BTreeMap::new(),
        }
    }

    /// The token's `aud` (default: the URL of the server's resource).
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// The token's `sub` (default: the server's person).
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// The token's `client_id` (default: `minted`).
    #[must_use]
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.client = client.into();
        self
    }

    /// How long the token is valid (default: as the server's tokens).
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// Binds the token to a key, by `cnf.jkt` (RFC 9449, 6.1).
    #[must_use]
    pub fn bound_to(mut self, key: &Signer) -> Self {
        self.key = Some(key.thumbprint());
        self
    }

    /// Adds or replaces a claim of a JWT. Null leaves the claim out.
    #[must_use]
    pub fn claim(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.claims.insert(name.into(), value.into());
        self
    }
}

/// Makes an access token for a grant, and remembers it.
pub(crate) fn access_token(
    context: &Context,
    grant: Grant,
    lifetime: Duration,
    extra: BTreeMap<String, Value>,
) -> String {
    let now = context.now();
    let audience = grant.resource.clone().unwrap_or_else(|| context.resource_url());
    let expires = now.saturating_add(millis(lifetime));
    let token = AccessToken { grant, audience, issued: now, expires, is_revoked: false };
    let fault = context.faults.first(&FAULTS);
    let text = match (context.config.token_format, fault) {
        (TokenFormat::Opaque, None) => format!("at-{}", random(24)),
        _ => jwt(context, &token, fault, extra),
    };
    let mut store = context.store();
    store.remember(&text);
    store.counters.access_tokens += 1;
    store.access_tokens.insert(text.clone(), token);
    text
}

/// An access token as a JWT (RFC 9068).
fn jwt(
    context: &Context,
    token: &AccessToken,
    fault: Option<Fault>,
    extra: BTreeMap<String, Value>,
) -> String {
    let signer = context.signer();
    let mut header = json!({"typ": "at+jwt", "alg": signer.algorithm(), "kid": signer.id()});
    let issued = token.issued / 1000;
    let mut claims = Map::new();
    for (name, value) in [
        ("iss", context.issuer().into()),
        ("sub", token.grant.subject.as_str().into()),
        ("aud", token.audience.as_str().into()),
        ("client_id", token.grant.client.as_str().into()),
        ("scope", token.grant.scope.as_str().into()),
        ("iat", issued.into()),
        ("exp", token.expires.div_ceil(1000).into()),
        ("jti", Value::from(random(12))),
    ] {
        claims.insert(name.into(), value);
    }
    if let Some(key) = &token.grant.key {
        claims.insert("cnf".into(), json!({ "jkt": key }));
    }
    claims.extend(extra);
    claims.retain(|_, value| !value.is_null());
    match fault {
        Some(Fault::TokenKeyIdPath) => header["kid"] = "../../../../dev/null".into(),
        Some(Fault::TokenTypOfIdToken) => header["typ"] = "JWT".into(),
        Some(Fault::TokenAudienceWrong) => set(&mut claims, "aud", "https://other.example/mcp"),
        Some(Fault::TokenIssuerWrong) => set(&mut claims, "iss", "https://issuer.attacker.example"),
        Some(Fault::TokenExpired) => set(&mut claims, "exp", issued.saturating_sub(3600)),
        Some(Fault::TokenNotYetValid) => set(&mut claims, "nbf", issued + 3600),
        Some(Fault::TokenAudienceMissing) => drop(claims.remove("aud")),
        Some(Fault::TokenExpiryMissing) => drop(claims.remove("exp")),
        _ => {}
    }
    let claims = Value::Object(claims);
    match fault {
        Some(Fault::TokenAlgNone) => {
            header["alg"] = "none".into();
            format!("{}.", unsigned(&header, &claims))
        }
        Some(Fault::TokenHmacWithPublicKey) => {
            header["alg"] = "HS256".into();
            sign_hmac(&header, &claims, signer.public_pem().as_bytes())
        }
        Some(Fault::TokenSignatureWrong) => Signer::es256(signer.id()).sign(header, &claims),
        Some(Fault::TokenEmbeddedKey) => {
            let own = Signer::es256("embedded");
            header["kid"] = "embedded".into();
            header["alg"] = "ES256".into();
            header["jwk"] = own.jwk();
            own.sign(header, &claims)
        }
        _ => signer.sign(header, &claims),
    }
}

fn set(claims: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    claims.insert(name.into(), value.into());
}

/// An ID token of OpenID Connect, valid for an hour.
pub(crate) fn id_token(context: &Context, client: &str, subject: &str) -> String {
    let now = context.now() / 1000;
    let claims = json!({
        "iss": context.issuer(),
        "sub": subject,
        "aud": client,
        "iat": now,
        "exp": now + 3600,
        "jti": random(12),
    });
    let token = context.signer().sign(json!({"typ": "JWT"}), &claims);
    context.store().remember(&token);
    token
}
