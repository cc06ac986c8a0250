//! An issuer whose documents tests change, tokens signed by another implementation, and an endpoint that returns its caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::{ErrorObject, Frame, Message, RawJson, Request as Call, Response as Answer};
use agentwire_mcp_auth::server::{AccessToken, Issuer, Rejection, ResourceServer, TokenService};
use agentwire_mcp_auth::{AddressPolicy, Algorithm, SigningKey};
use agentwire_transport::{Exchange, MessageSource, Packet, service_fn};
use agentwire_transport_http::client::{Body as ClientBody, BoxError, HttpClient};
use agentwire_transport_http::server::{Body, Endpoint, EndpointConfig, Head, Principal};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, Sink, SinkExt, Stream, StreamExt};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use jsonwebtoken::{EncodingKey, Header};
use serde_json::{Value, json};
use tower_layer::Layer;
use tower_service::Service;

pub(crate) const ISSUER: &str = "https://login.example";
pub(crate) const RESOURCE: &str = "https://mcp.example/mcp";
pub(crate) const METADATA: &str = "https://login.example/.well-known/oauth-authorization-server";
pub(crate) const KEYS: &str = "https://login.example/keys";
pub(crate) const RSA: &str = include_str!("../../keys/rsa.pem");
pub(crate) const EC: &str = include_str!("../../keys/ec.pem");

/// The responses of a URL.
type Answering = Arc<dyn Fn(&Request<Bytes>) -> Response<ClientBody> + Send + Sync>;

/// An HTTP client for which the web is a table.
#[derive(Clone, Default)]
pub(crate) struct Web(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    pages: HashMap<String, Answering>,
    asked: Vec<String>,
    delay: Duration,
}

impl Web {
    /// One with the metadata and the key set of the issuer.
    pub(crate) fn with_issuer() -> Self {
        let web = Self::default();
        web.put(METADATA, json!({ "issuer": ISSUER, "jwks_uri": KEYS }));
        web.put(KEYS, json!({ "keys": [jwk(RSA, Algorithm::Rs256, "one")] }));
        web
    }

    pub(crate) fn put(&self, url: &str, document: Value) {
        self.answer(url, move |_| response(200, document.to_string()));
    }

    pub(crate) fn answer(
        &self,
        url: &str,
        answer: impl Fn(&Request<Bytes>) -> Response<ClientBody> + Send + Sync + 'static,
    ) {
        self.0.lock().unwrap().pages.insert(url.to_owned(), Arc::new(answer));
    }

    pub(crate) fn remove(&self, url: &str) {
        self.0.lock().unwrap().pages.remove(url);
    }

    pub(crate) fn delay(&self, delay: Duration) {
        self.0.lock().unwrap().delay = delay;
    }

    /// How often a URL was asked.
    pub(crate) fn count(&self, url: &str) -> usize {
        self.0.lock().unwrap().asked.iter().filter(|asked| *asked == url).count()
    }

    /// How often anything was asked.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().asked.clone()
    }
}

impl HttpClient for Web {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<ClientBody>, BoxError>> {
        let url = request.uri().to_string();
        let mut table = self.0.lock().unwrap();
        table.asked.push(url.clone());
        let (page, delay) = (table.pages.get(&url).cloned(), table.delay);
        async move {
            tokio::time::sleep(delay).await;
            let page = page.ok_or("there is no such page")?;
            Ok(page(&request))
        }
        .boxed()
    }
}

pub(crate) fn response(status: u16, body: impl Into<Bytes>) -> Response<ClientBody> {
    let body: BoxStream<'static, Result<Bytes, BoxError>> = futures::stream::iter([Ok(body.into())]).boxed();
    Response::builder().status(status).body(body).unwrap()
}

/// A key of a set.
pub(crate) fn jwk(pem: &str, algorithm: Algorithm, kid: &str) -> Value {
    let key = SigningKey::from_pkcs8_pem(pem, algorithm).unwrap().public_jwk().with_kid(kid);
    serde_json::to_value(key).unwrap()
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The claims of a token of ann, changed; null removes one.
pub(crate) fn claims(change: Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "aud": RESOURCE, "sub": "ann", "client_id": "app", "exp": now() + 300, "iat": now(), "scope": "mcp",
    });
    let members = claims.as_object_mut().unwrap();
    members.extend(change.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    claims
}

pub(crate) fn header() -> Header {
    let mut header = Header::new(jsonwebtoken::Algorithm::RS256);
    header.kid = Some("one".to_owned());
    header.typ = Some("at+jwt".to_owned());
    header
}

/// A token with these claims, signed by the key `one`.
pub(crate) fn signed(header: &Header, claims: &Value) -> String {
    jsonwebtoken::encode(header, claims, &EncodingKey::from_rsa_pem(RSA.as_bytes()).unwrap()).unwrap()
}

pub(crate) fn token(change: Value) -> String {
    signed(&header(), &claims(change))
}

pub(crate) fn issuer(web: &Web) -> Issuer {
    Issuer::jwks(ISSUER, web.clone()).addresses(AddressPolicy::new().trust("login.example"))
}

/// A server for the tokens of the issuer, which remembers its rejections.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) service: TokenService<Endpoint>,
    rejections: Arc<Mutex<Vec<Rejection>>>,
}

impl Server {
    pub(crate) fn new(web: &Web) -> Self {
        Self::with(web, |auth| auth)
    }

    pub(crate) fn with(web: &Web, adjust: impl FnOnce(ResourceServer) -> ResourceServer) -> Self {
        Self::of(adjust(ResourceServer::new(RESOURCE).unwrap().issuer(issuer(web)).scopes(["mcp"])))
    }

    pub(crate) fn of(auth: ResourceServer) -> Self {
        Self::configured(auth, |config| config)
    }

    pub(crate) fn configured(
        auth: ResourceServer,
        adjust: impl FnOnce(EndpointConfig) -> EndpointConfig,
    ) -> Self {
        let rejections = Arc::<Mutex<Vec<Rejection>>>::default();
        let kept = rejections.clone();
        let auth = auth.on_rejection(move |why, _| kept.lock().unwrap().push(why.clone()));
        let config = EndpointConfig::new().hosts(["mcp.example"]).origins(["https://app.example"]);
        let endpoint = Endpoint::serving(adjust(config), service_fn(serve_session, serve_exchange));
        tokio::spawn(endpoint.run());
        let pages = endpoint.clone();
        let layer = auth.layer().cors(move |headers| pages.cors(headers));
        Self { service: layer.layer(endpoint), rejections }
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        self.service.clone().call(request).await.unwrap()
    }

    /// A modern request with this header `Authorization`.
    pub(crate) async fn call(&self, authorization: Option<&str>) -> Reply {
        self.call_with(authorization, |_| {}).await
    }

    pub(crate) async fn call_with(
        &self,
        authorization: Option<&str>,
        change: impl FnOnce(&mut Request<Full<Bytes>>),
    ) -> Reply {
        let mut request = modern("whoami", None);
        if let Some(value) = authorization {
            request.headers_mut().insert("authorization", value.parse().unwrap());
        }
        change(&mut request);
        Reply::of(self.send(request).await).await
    }

    pub(crate) async fn bearer(&self, token: &str) -> Reply {
        self.call(Some(&format!("Bearer {token}"))).await
    }

    /// The reason of the last refusal.
    pub(crate) fn rejection(&self) -> Rejection {
        self.rejections.lock().unwrap().last().cloned().expect("a refusal")
    }
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) async fn of<B>(response: Response<B>) -> Self
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Debug,
    {
        let (head, body) = response.into_parts();
        let body = tokio::time::timeout(Duration::from_secs(5), body.collect()).await.expect("a whole body");
        let body = String::from_utf8(body.unwrap().to_bytes().to_vec()).unwrap();
        Self { status: head.status.as_u16(), headers: head.headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn challenge(&self) -> &str {
        self.header("www-authenticate").unwrap_or_default()
    }
}

fn post(body: &Value) -> http::request::Builder {
    let _ = body;
    Request::post("https://mcp.example/mcp")
        .header("host", "mcp.example")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

/// A request of 2026-07-28.
pub(crate) fn modern(method: &str, name: Option<&str>) -> Request<Full<Bytes>> {
    let mut body = json!({
        "jsonrpc": "2.0", "id": 1, "method": method,
        "params": { "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
    });
    let mut builder = post(&body).header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
    if let Some(name) = name {
        let member = if method == "resources/read" { "uri" } else { "name" };
        body["params"][member] = name.into();
        builder = builder.header("mcp-name", name);
    }
    builder.body(Full::new(body.to_string().into())).unwrap()
}

/// A request of a session, or the one that opens it.
pub(crate) fn in_session(session: Option<&str>, token: &str, body: &Value) -> Request<Full<Bytes>> {
    let mut builder = post(body).header("authorization", format!("Bearer {token}"));
    if let Some(session) = session {
        builder = builder.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
    }
    builder.body(Full::new(body.to_string().into())).unwrap()
}

pub(crate) fn initialize(version: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    })
}

async fn serve_exchange(Exchange { request, source, .. }: Exchange) -> Answer {
    answer(request, source.as_deref())
}

pub(crate) async fn serve_session<C>(mut connection: C)
where
    C: Stream<Item = Result<Packet, agentwire_transport::TransportError>> + Sink<Packet> + Unpin,
{
    while let Some(Ok(packet)) = connection.next().await {
        let Packet::Frame { frame, source, .. } = packet else { continue };
        let messages = match frame {
            Frame::Single(message) => vec![message],
            Frame::Batch(messages) => messages.into_iter().flatten().collect(),
            _ => continue,
        };
        for message in messages {
            let Message::Request(request) = message else { continue };
            let answer = answer(request, source.as_deref());
            if connection.send(Packet::new(Message::Response(answer))).await.is_err() {
                return;
            }
        }
    }
}

/// Answers with the name of the caller. `demand` needs the scope `extra`.
fn answer(request: Call, source: Option<&dyn MessageSource>) -> Answer {
    let head = source.and_then(|source| source.downcast_ref::<Head>()).expect("a head");
    let token = head.extensions().get::<AccessToken>().expect("a token");
    assert!(!head.headers().contains_key("authorization") && !head.headers().contains_key("dpop"));
    if request.method == "initialize" {
        let version = request.params.as_ref().and_then(|params| params.decode::<Value>().ok());
        let version = version.map(|params| params["protocolVersion"].clone()).unwrap_or_default();
        let result = json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "t", "version": "1" } });
        return Answer::new(request.id, Ok(RawJson::encode(&result).unwrap()));
    }
    if request.method == "demand"
        && let Err(error) = token.require(["extra"])
    {
        return Answer::new(request.id, Err(ErrorObject::internal_error(error)));
    }
    let name = head.extensions().get::<Principal>().expect("a principal").as_str().to_owned();
    Answer::new(request.id, Ok(RawJson::encode(&name).unwrap()))
}

pub(crate) const OK: u16 = StatusCode::OK.as_u16();
