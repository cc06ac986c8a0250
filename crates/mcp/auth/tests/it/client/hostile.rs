//! Answers that no server of the test kit gives: a client in between changes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_auth::client::{AuthConfig, AuthError, Authorization, ClientIdentity};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, RegisteredClient};
use agentwire_transport_http::client::{Body, BoxError, HttpClient, Hyper};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use http::{Request, Response};

use super::{Person, get, hyper};
use crate::{DEADLINE, thread_time};

/// A status, a challenge and a body.
type Answer = (u16, String, String);

type Tamper = dyn Fn(&Request<Bytes>) -> Option<Answer> + Send + Sync;

/// Answers itself what the function has an answer for.
#[derive(Clone)]
pub(crate) struct Tampering {
    http: Hyper,
    answer: Arc<Tamper>,
}

pub(crate) fn tampering(
    answer: impl Fn(&Request<Bytes>) -> Option<Answer> + Send + Sync + 'static,
) -> Tampering {
    Tampering { http: hyper(), answer: Arc::new(answer) }
}

impl HttpClient for Tampering {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let Some((status, challenge, body)) = (self.answer)(&request) else { return self.http.send(request) };
        let body = stream::once(async move { Ok(Bytes::from(body)) }).boxed();
        let mut response = Response::builder().status(status);
        if !challenge.is_empty() {
            response = response.header("www-authenticate", challenge);
        }
        let response = response.body(body).map_err(BoxError::from);
        async move { response }.boxed()
    }
}

/// The parameter of a form.
fn param(request: &Request<Bytes>, name: &str) -> Option<String> {
    let body = String::from_utf8_lossy(request.body()).into_owned();
    body.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")).map(ToOwned::to_owned))
}

#[tokio::test]
async fn a_description_that_repeats_a_secret_is_not_shown() {
    let registered =
        RegisteredClient::new("mine").redirect_uri(super::REDIRECT_URI).secret_basic("hunter2/hunter3");
    for (part, encode) in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)] {
        let server = AuthServer::builder().client(registered.clone()).start().await.unwrap();
        let repeats = move |request: &Request<Bytes>| {
            let code = param(request, "code")?;
            let basic = request.headers().get("authorization")?.to_str().ok()?.to_owned();
            let mut text = format!("{} hunter2/hunter3 {basic}", &code[..code.len() / part]);
            for _ in 0..encode {
                text = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            }
            let error = serde_json::json!({ "error": "invalid_grant", "error_description": text });
            Some((400, String::new(), error.to_string()))
        };
        let client = ClientIdentity::new("mine").secret("hunter2/hunter3");
        let config = AuthConfig::new("Test").user_agent(Person::new()).client(client);
        let authorization = Authorization::new(config, tampering(repeats));
        let error = authorization.login(&server.resource_url()).await.unwrap_err();
        let AuthError::Rejected { code, description, .. } = &error else { panic!("{error:?}") };
        assert_eq!((code.as_deref(), description.as_deref()), (Some("invalid_grant"), Some("…")));
    }
}

#[tokio::test]
async fn a_token_that_is_no_text_of_a_header_replaces_none() {
    let server = AuthServer::builder().start().await.unwrap();
    let (url, person) = (server.resource_url(), Person::new());
    let is_evil = Arc::new(AtomicUsize::new(0));
    let evil = is_evil.clone();
    let answer = move |request: &Request<Bytes>| {
        param(request, "grant_type").filter(|_| evil.load(Ordering::SeqCst) == 1)?;
        let body = serde_json::json!({ "access_token": "a\r\nX-Evil: é", "token_type": "Bearer" });
        Some((200, String::new(), body.to_string()))
    };
    let authorization =
        Authorization::new(AuthConfig::new("Test").user_agent(person.clone()), tampering(answer));
    let http = authorization.wrap(&url, hyper()).unwrap();
    assert_eq!(get(&http, &url).await.unwrap(), 200);
    is_evil.store(1, Ordering::SeqCst);
    let error = authorization.login(&url).await.unwrap_err();
    assert!(error.to_string().contains("cannot be the value of a header"), "{error}");
    assert_eq!(get(&http, &url).await.unwrap(), 200, "the token that it had");
}

#[tokio::test]
async fn a_server_that_does_not_answer_holds_nobody_up() {
    let server = AuthServer::builder().start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let config = AuthConfig::new("Test").user_agent(Person::new()).timeout(Duration::from_millis(200));
    let authorization = Authorization::new(config, hyper());
    // Without a limit of its own, a request may take 30 s.
    let ensured = tokio::time::timeout(DEADLINE, authorization.ensure(&url)).await;
    ensured.expect("it takes no longer than a request may").unwrap();
    drop((listener, server));
}

#[tokio::test]
async fn a_challenge_that_grows_has_an_end() {
    let names: Vec<String> = (0..300).map(|number| format!("s{number}")).collect();
    let mut supported: Vec<&str> = names.iter().map(|name| &**name).collect();
    supported.push("tools:read");
    let server = AuthServer::builder().scopes_supported(&supported).start().await.unwrap();
    let url = server.resource_url();
    let (asked, all) = (AtomicUsize::new(0), names.join(" "));
    let answer = move |request: &Request<Bytes>| {
        request.headers().get("authorization")?;
        // First all, then another one each time.
        let scope = match asked.fetch_add(1, Ordering::SeqCst) {
            0 => all.clone(),
            number => format!("s{}", 70 + number % 200),
        };
        Some((403, format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""), String::new()))
    };
    let person = Person::new();
    let authorization = Authorization::new(AuthConfig::new("Test").user_agent(person.clone()), hyper());
    let http = authorization.wrap(&url, tampering(answer)).unwrap();
    for _ in 0..20 {
        assert_eq!(get(&http, &url).await.unwrap(), 403);
    }
    assert!(person.asked() <= 3, "{} logins", person.asked());
    for request in server.log().to(Endpoint::Authorization) {
        assert!(request.param("scope").unwrap().split(' ').count() <= 64);
    }
}

#[tokio::test]
async fn a_header_full_of_scopes_is_cheap() {
    let server = AuthServer::builder().start().await.unwrap();
    let scopes: Vec<String> = (0..60_000).map(|number| format!("s{number}")).collect();
    let challenge = format!("Bearer scope=\"{}\"", scopes.join(" "));
    let answer = move |_: &Request<Bytes>| Some((401, challenge.clone(), String::new()));
    let authorization = Authorization::new(AuthConfig::new("Test"), hyper());
    let url = server.resource_url();
    let http = authorization.wrap(&url, tampering(answer)).unwrap();
    let started = thread_time();
    let error = get(&http, &url).await.unwrap_err();
    let took = thread_time() - started;
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(matches!(&*error, AuthError::NeedsPerson { .. }), "{}", error.to_string().len());
    assert!(error.to_string().len() < 4096, "{}", error.to_string().len());
}

#[tokio::test]
async fn no_token_is_obtained_for_a_server_that_anybody_can_listen_to() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let http = tampering(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Some((401, "Bearer resource_metadata=\"https://192.0.2.1/x\"".into(), "{}".into()))
    });
    let authorization = Authorization::new(AuthConfig::new("Test").user_agent(Person::new()), http);
    let error = authorization.login("http://192.0.2.1/mcp").await.unwrap_err();
    assert!(error.to_string().contains("`https` only"), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "nothing but the first request is sent");
}
