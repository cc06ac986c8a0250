//! A client of OAuth, step by step, which checks nothing.

use agentwire_mcp_auth_testkit::{AuthServer, Signer};
use serde_json::{Value, json};

use crate::raw::{Answer, get, post, send};

pub(crate) const REDIRECT: &str = "http://127.0.0.1:49152/callback";

/// A verifier of RFC 7636, appendix B, and its challenge.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A client without a secret, and what it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) token_endpoint: String,
    pub(crate) authorization_endpoint: String,
    pub(crate) id: String,
    pub(crate) resource: Option<String>,
    pub(crate) scope: Option<String>,
    pub(crate) verifier: String,
    pub(crate) proof_key: Option<Signer>,
}

pub(crate) fn registration() -> Value {
    json!({
        "client_name": "by hand",
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
        "scope": "tools:read tools:write offline_access openid",
    })
}

pub(crate) async fn post_json(url: &str, body: &Value) -> Answer {
    send("POST", url, &[("content-type", "application/json")], &body.to_string()).await
}

impl Client {
    /// A client that has registered.
    pub(crate) async fn register(server: &AuthServer) -> Self {
        let answer = post_json(&server.endpoint("register"), &registration()).await;
        assert_eq!(answer.status, 201, "{}", answer.json());
        Self::known(server, answer.json()["client_id"].as_str().unwrap_or_default())
    }

    /// A client that the server knows.
    pub(crate) fn known(server: &AuthServer, id: &str) -> Self {
        Self {
            token_endpoint: server.endpoint("token"),
            authorization_endpoint: server.endpoint("authorize"),
            id: id.to_owned(),
            resource: Some(server.resource_url()),
            scope: None,
            verifier: VERIFIER.into(),
            proof_key: None,
        }
    }

    fn with_common<'a>(&'a self, mut pairs: Vec<(&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
        pairs.push(("client_id", &self.id));
        pairs.extend(self.resource.as_deref().map(|resource| ("resource", resource)));
        pairs
    }

    pub(crate) async fn authorize(&self) -> Answer {
        let mut pairs = self.with_common(vec![
            ("response_type", "code"),
            ("redirect_uri", REDIRECT),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", "state-1"),
        ]);
        pairs.extend(self.scope.as_deref().map(|scope| ("scope", scope)));
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        get(&format!("{}?{query}", self.authorization_endpoint)).await
    }

    /// A code, which must be given.
    pub(crate) async fn code(&self) -> String {
        let answer = self.authorize().await;
        answer.location_param("code").unwrap_or_else(|| panic!("no code: {answer:?}"))
    }

    pub(crate) async fn token(&self, pairs: Vec<(&str, &str)>) -> Answer {
        let proof =
            self.proof_key.as_ref().map(|key| key.dpop_proof("POST", &self.token_endpoint, None, None));
        let headers: Vec<(&str, &str)> = proof.iter().map(|proof| ("dpop", proof.as_str())).collect();
        post(&self.token_endpoint, &self.with_common(pairs), &headers).await
    }

    pub(crate) async fn exchange(&self, code: &str) -> Answer {
        let verifier = self.verifier.as_str();
        self.token(vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", REDIRECT),
        ])
        .await
    }

    /// The answer with tokens for a new code.
    pub(crate) async fn login(&self) -> Answer {
        self.exchange(&self.code().await).await
    }

    pub(crate) async fn refresh(&self, token: &str) -> Answer {
        self.token(vec![("grant_type", "refresh_token"), ("refresh_token", token)]).await
    }
}

/// A request to the resource with a token.
pub(crate) async fn call(server: &AuthServer, token: Option<&str>) -> Answer {
    let value = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = value.iter().map(|value| ("authorization", value.as_str())).collect();
    send("POST", &server.resource_url(), &headers, "{}").await
}

/// A string in an answer.
pub(crate) fn text(answer: &Answer, name: &str) -> String {
    answer.json()[name].as_str().unwrap_or_default().to_owned()
}
