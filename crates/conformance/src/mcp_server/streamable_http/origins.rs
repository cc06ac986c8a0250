//! Checks of what a server refuses because of where it comes from.

use serde_json::{Value, json};

use super::Session;
use crate::check::{Check, HTTP, WEB, check};
use crate::fault::Incoming;
use crate::faults;
use crate::link::http::{HttpRequest, HttpResponse, HttpTarget};
use crate::mcp_server::Server;
use crate::mcp_server::http_sse::opened;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

/// An origin that no server under test allows.
const EVIL: &str = "http://evil.example";

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!("SSE-09", get_and_post_check_the_origin, WEB, [
        "serves a POST of any origin" => faults::answer_status(|request| is_evil(request) && request.starts_with("POST"), 200),
        "serves a GET of any origin" => faults::answer_status(|request| is_evil(request) && request.starts_with("GET"), 200),
    ]),
    check!("HTP-53", every_method_checks_the_origin, WEB, [
        "serves a POST of any origin" => faults::answer_status(|request| is_evil(request) && request.starts_with("POST"), 200),
        "lets any page send more" => faults::answer_head(
            |request| is_evil(request) && request.starts_with("OPTIONS"),
            |head| { head.status = 204; head.set("access-control-allow-origin", "*"); }),
        "refuses a request without an origin" => faults::answer_status(|request| request.contains("\"originless\"") && !request.contains("origin: "), 403),
    ]),
    check!("HTP-54", a_foreign_origin_gets_403, HTTP, [
        "answers a foreign origin with status 400" => faults::answer_status(is_evil, 400),
        "answers a foreign origin under the request's id" => faults::in_response_to(is_evil, |incoming| match incoming {
            Incoming::Body { exchange, .. } => {
                let error = json!({"jsonrpc": "2.0", "id": "foreign", "error": {"code": -32000, "message": "forbidden"}});
                vec![Incoming::Body { exchange, bytes: error.to_string().into_bytes() }]
            }
            other => vec![other],
        }),
    ]),
    check!("HTP-55", a_foreign_host_is_refused, HTTP, [
        "serves any host" => faults::answer_status(|request| request.contains("host: evil.example"), 200),
    ]),
    check!("SSE-10", listens_on_the_loopback_interface_only, WEB, [
        "listens on every interface" => faults::ignores("conformance/probe"),
    ]),
];

fn is_evil(request: &str) -> bool {
    request.contains("\norigin: http://evil.example")
}

fn is_refused(status: u16) -> bool {
    (400..500).contains(&status)
}

fn originless() -> Value {
    json!({"jsonrpc": "2.0", "id": "originless", "method": "ping"})
}

/// A GET and a POST that the server serves without an origin.
struct Requests {
    get: HttpRequest,
    post: HttpRequest,
    session: Option<Session>,
    /// The stream of an HTTP+SSE session, which ends with it.
    _stream: Option<HttpResponse>,
}

impl Requests {
    async fn of(server: &Server) -> Outcome<Self> {
        if server.setting.transport == Transport::Sse {
            let (stream, endpoint) = opened(server).await.map_err(Stop::while_preparing)?;
            let get = server.http().await?.request("GET").header("accept", "text/event-stream");
            let post = endpoint.request("POST").json(&originless());
            return Ok(Self { get, post, session: None, _stream: Some(stream) });
        }
        let session = Session::open(server).await?;
        let (get, post) = (session.get(), session.post(&session.simple("originless")));
        Ok(Self { get, post, session: Some(session), _stream: None })
    }

    async fn end(self) -> Outcome {
        match self.session {
            Some(session) => session.end().await,
            None => Ok(()),
        }
    }
}

async fn get_and_post_check_the_origin(server: Server) -> Outcome {
    let requests = Requests::of(&server).await?;
    for (method, request) in [("GET", requests.get.clone()), ("POST", requests.post.clone())] {
        refuses(method, request).await?;
    }
    requests.end().await
}

async fn refuses(method: &str, request: HttpRequest) -> Outcome {
    let status = request.header("origin", EVIL).send().await?.status();
    let expected = format!("a status of 4xx for a {method} of the origin {EVIL}");
    ensure!(is_refused(status), expected, "status {status}");
    Ok(())
}

async fn every_method_checks_the_origin(server: Server) -> Outcome {
    let target = server.http().await?;
    let requests = Requests::of(&server).await?;
    refuses("GET", requests.get.clone()).await?;
    refuses("POST", requests.post.clone()).await?;
    if let Some(session) = &requests.session {
        refuses("DELETE", session.request("DELETE")).await?;
    }
    let preflight = target.request("OPTIONS").header("access-control-request-method", "POST");
    let response = preflight.header("origin", EVIL).send().await?;
    let allowed = response.header("access-control-allow-origin").unwrap_or_default();
    let expected = format!("a preflight that does not allow the origin {EVIL}");
    ensure!(allowed != EVIL && allowed != "*", expected, "`Access-Control-Allow-Origin: {allowed}`");
    // A DELETE of a foreign origin has not ended the session, and a request without an origin is served.
    let status = requests.post.clone().send().await?.status();
    ensure!((200..300).contains(&status), "a status of 2xx for a POST without an origin", "status {status}");
    requests.end().await
}

async fn a_foreign_origin_gets_403(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut response = session.post(&session.simple("foreign")).header("origin", EVIL).send().await?;
    let status = response.status();
    ensure!(status == 403, format!("status 403 for a POST of the origin {EVIL}"), "status {status}");
    if let Ok(body) = serde_json::from_slice::<Value>(&response.bytes().await?) {
        let has_id = body.get("id").is_some_and(|id| !id.is_null());
        ensure!(
            !has_id && body.get("result").is_none(),
            "an error without an id, or no JSON-RPC",
            "`{body}`"
        );
    }
    session.end().await
}

/// Whether a server is reached on the loopback interface.
fn is_local(target: &HttpTarget) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| target.authority().starts_with(host))
}

async fn a_foreign_host_is_refused(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    if !is_local(&session.target) {
        return Err(Stop::not_applicable("the server does not listen on localhost"));
    }
    let port = session.target.authority().rsplit_once(':').map_or("80", |(_, port)| port).to_owned();
    for host in ["evil.example".to_owned(), format!("evil.example:{port}")] {
        let request = session.post(&session.simple("foreign-host")).header("host", &host);
        let status = request.send().await?.status();
        ensure!(is_refused(status), format!("a status of 4xx for the host `{host}`"), "status {status}");
    }
    session.end().await
}

/// The address of this machine that other machines would reach.
async fn outer_address() -> Option<std::net::IpAddr> {
    let socket = tokio::net::UdpSocket::bind("0.0.0.0:0").await.ok()?;
    // Nothing is sent: a UDP socket learns its own address when it is connected.
    socket.connect("192.0.2.1:9").await.ok()?;
    socket
        .local_addr()
        .ok()
        .map(|address| address.ip())
        .filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

async fn listens_on_the_loopback_interface_only(server: Server) -> Outcome {
    server.command()?;
    let target = server.http().await?;
    if !is_local(&target) {
        return Err(Stop::not_applicable("the server was not asked to listen on localhost"));
    }
    let Some(address) = outer_address().await else {
        return Err(Stop::not_applicable("this machine has no address but those of the loopback interface"));
    };
    let port = target.authority().rsplit_once(':').map_or("80", |(_, port)| port);
    let outer = target.at(&format!("http://{address}:{port}{}", target.path()))?;
    let probe = json!({"jsonrpc": "2.0", "method": "conformance/probe"});
    let is_reached = outer.request("POST").json(&probe).send().await.is_ok();
    ensure!(!is_reached, "a server that listens on 127.0.0.1 only", "a response from {address}:{port}");
    Ok(())
}
