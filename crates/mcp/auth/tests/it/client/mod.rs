//! The client against an authorization server that can misbehave.

mod attacks;
mod documents;
mod fleet;
#[cfg(all(feature = "file", unix))]
mod full_disk;
mod hostile;
mod issuers;
mod problems;
mod remedies;
mod sharing;
mod storage;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_auth::client::{
    AuthConfig, AuthError, Authorization, AuthorizedClient, LoginError, RedirectListener, UserAgent,
};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint};
use agentwire_transport_http::client::{BoxError, Declined, HttpClient, Hyper};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};
use http::{Request, Uri};

/// Where the person is sent back to. Nothing listens there.
const REDIRECT_URI: &str = "http://127.0.0.1:49152/callback";

pub(crate) fn hyper() -> Hyper {
    Hyper::new(Duration::from_secs(10)).unwrap()
}

/// A person who agrees at once, and how often that was needed.
#[derive(Clone)]
pub(crate) struct Person {
    http: Hyper,
    listened: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
}

impl Person {
    pub(crate) fn new() -> Self {
        Self { http: hyper(), listened: Arc::default(), asked: Arc::default() }
    }

    /// How often the authorization server was opened.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Person")
    }
}

impl UserAgent for Person {
    fn redirect_uris(&self) -> Vec<String> {
        vec![REDIRECT_URI.to_owned()]
    }

    fn listen(&self) -> BoxFuture<'static, Result<Box<dyn RedirectListener>, LoginError>> {
        self.listened.fetch_add(1, Ordering::Relaxed);
        let listener: Box<dyn RedirectListener> = Box::new(self.clone());
        async move { Ok(listener) }.boxed()
    }
}

impl RedirectListener for Person {
    fn redirect_uri(&self) -> String {
        REDIRECT_URI.to_owned()
    }

    fn authorize(
        self: Box<Self>,
        url: Uri,
        _state: String,
    ) -> BoxFuture<'static, Result<String, LoginError>> {
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(self.listened.load(Ordering::Relaxed) > before, "the listener is there before the browser");
        async move {
            let mut request = Request::new(Bytes::new());
            *request.uri_mut() = url;
            let response = self.http.send(request).await;
            let response = response.map_err(|cause| LoginError::unavailable("the page", cause))?;
            let location = response.headers().get("location").and_then(|location| location.to_str().ok());
            let missing = || LoginError::unavailable("the redirect", "there is none");
            Ok(location.and_then(|location| location.split_once('?')).ok_or_else(missing)?.1.to_owned())
        }
        .boxed()
    }
}

/// A client of the test server's resource.
pub(crate) struct Client {
    pub(crate) authorization: Authorization,
    pub(crate) http: AuthorizedClient<Hyper>,
    url: String,
}

impl Client {
    pub(crate) fn new(server: &AuthServer, config: AuthConfig) -> Self {
        let http = hyper();
        let authorization = Authorization::new(config, http.clone());
        let url = server.resource_url();
        Self { http: authorization.wrap(&url, http).unwrap(), authorization, url }
    }

    /// One request, and the status of its response.
    pub(crate) async fn get(&self) -> Result<u16, Error> {
        get(&self.http, &self.url).await
    }
}

/// An error, which is asserted to be of the crate.
pub(crate) type Error = Box<AuthError>;

pub(crate) async fn get(http: &impl HttpClient, url: &str) -> Result<u16, Error> {
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = url.parse().unwrap();
    match http.send(request).await {
        Ok(response) => {
            let status = response.status().as_u16();
            let _: Vec<Bytes> = response.into_body().try_collect().await.unwrap_or_default();
            Ok(status)
        }
        Err(error) => Err(auth_error(error)),
    }
}

fn auth_error(error: BoxError) -> Error {
    let declined = error.downcast::<Declined>().unwrap_or_else(|error| panic!("{error:?}"));
    declined.into_inner().downcast().unwrap_or_else(|error| panic!("{error:?}"))
}

/// How many requests an endpoint got.
pub(crate) fn count(server: &AuthServer, endpoint: Endpoint) -> usize {
    server.log().to(endpoint).len()
}

/// Fails if a text has one of the server's secrets in it.
pub(crate) fn assert_no_secret(server: &AuthServer, text: &str) {
    for secret in server.secrets() {
        assert!(!text.contains(&secret), "a secret is shown in {text}");
    }
}
