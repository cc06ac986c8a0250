//! Scenarios with an authorization server. A request that needs a token gets one by itself; who logs in is a function.

use std::time::Duration;

use agentwire_mcp_auth::client::{
    Assertion, AuthConfig, Authorization, ClientIdentity, Grant, IdentityProvider, LoginError,
    RedirectListener, UserAgent,
};
use agentwire_mcp_client::BoxError;
use agentwire_transport_http::client::{Config, HttpClient, Hyper};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, Uri};
use serde_json::{Value, json};

use crate::Case;

/// The document that the suite takes as published at this URL.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";

/// Nothing listens there: the redirect is read and not followed.
const REDIRECT_URI: &str = "http://localhost:3000/callback";

/// Lists and calls a tool, as far as the authorization server lets it.
pub(crate) async fn run(case: Case, scenario: &str) -> Result<(), BoxError> {
    let http = Hyper::new(Duration::from_secs(10))?;
    let context = case.context().unwrap_or_default();
    let authorization = Authorization::new(config(scenario, &context, http.clone())?, http.clone());
    let transport = Config::new(&case.url)?.open_with(authorization.wrap(&case.url, http)?);
    let client = case.client();
    case.run_over(client, transport, async |server| {
        server.tools().collect().await?;
        server.call_tool("test-tool", json!({})).await?;
        Ok(())
    })
    .await
}

fn config(scenario: &str, context: &Value, http: Hyper) -> Result<AuthConfig, BoxError> {
    let text = |name: &str| context[name].as_str().unwrap_or_default();
    let secret = |id: &str, secret: &str| ClientIdentity::new(text(id)).secret(text(secret));
    let config = AuthConfig::new("Everything Client").metadata_url(METADATA_URL).user_agent(Redirected(http));
    Ok(match scenario {
        "auth/pre-registration" => {
            let client = secret("client_id", "client_secret");
            config.client(match context["issuer"].as_str() {
                Some(issuer) => client.issuer(issuer),
                None => client,
            })
        }
        "auth/client-credentials-basic" => {
            config.client(secret("client_id", "client_secret")).grant(Grant::ClientCredentials)
        }
        "auth/client-credentials-jwt" => {
            let client = ClientIdentity::new(text("client_id"));
            let client = client.private_key(text("private_key_pem"), text("signing_algorithm"))?;
            config.client(client).grant(Grant::ClientCredentials)
        }
        "auth/wif-jwt-bearer" => {
            let assertion = given(text("valid_jwt"));
            config.client(ClientIdentity::new(text("client_id"))).grant(Grant::WorkloadIdentity(assertion))
        }
        "auth/enterprise-managed-authorization" | "auth/cross-app-access-complete-flow" => {
            let provider = IdentityProvider::new(
                text("idp_issuer"),
                text("idp_token_endpoint"),
                ClientIdentity::new(text("idp_client_id")),
                given(text("idp_id_token")),
            );
            config.client(secret("client_id", "client_secret")).grant(Grant::EnterpriseManaged(provider))
        }
        _ => config,
    })
}

fn given(assertion: &str) -> Assertion {
    let assertion = assertion.to_owned();
    Assertion::new(move || {
        let assertion = assertion.clone();
        async move { Ok(assertion.into()) }
    })
}

/// The suite's authorization server asks no person: it redirects at once.
#[derive(Debug, Clone)]
struct Redirected(Hyper);

impl UserAgent for Redirected {
    fn redirect_uris(&self) -> Vec<String> {
        vec![REDIRECT_URI.to_owned()]
    }

    fn listen(&self) -> BoxFuture<'static, Result<Box<dyn RedirectListener>, LoginError>> {
        let listener: Box<dyn RedirectListener> = Box::new(self.clone());
        async move { Ok(listener) }.boxed()
    }
}

impl RedirectListener for Redirected {
    fn redirect_uri(&self) -> String {
        REDIRECT_URI.to_owned()
    }

    fn authorize(
        self: Box<Self>,
        url: Uri,
        _state: String,
    ) -> BoxFuture<'static, Result<String, LoginError>> {
        async move {
            let mut request = Request::new(Bytes::new());
            *request.uri_mut() = url;
            let response =
                self.0.send(request).await.map_err(|cause| LoginError::unavailable("the login", cause))?;
            let location = response.headers().get("location").and_then(|location| location.to_str().ok());
            let query = location.and_then(|location| location.split_once('?'));
            let missing = || LoginError::unavailable("the redirect", "there is none");
            query.map(|(_, query)| query.to_owned()).ok_or_else(missing)
        }
        .boxed()
    }
}
