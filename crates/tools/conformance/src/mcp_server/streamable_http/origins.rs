//! Checks of what a server refuses because of where it comes from.

use serde_json::json;

use super::Session;
use crate::check::{Check, HTTP, WEB, check};
use crate::link::http::{HttpRequest, HttpTarget};
use crate::mcp_server::Server;
use crate::mcp_server::http_sse::opened;
use crate::verdict::{Outcome, Stop, ensure};

/// An origin that no server under test allows.
const EVIL: &str = "http://evil.example";

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(get_and_post_check_the_origin, WEB),
    check!(every_method_checks_the_origin, HTTP),
    check!(a_foreign_origin_gets_403, HTTP),
    check!(listens_on_the_loopback_interface_only, WEB),
    check!(streamable_http_listens_on_the_loopback_interface_only, HTTP),
];

async fn get_and_post_check_the_origin(server: Server) -> Outcome {
    let (_stream, endpoint) = opened(&server).await.map_err(Stop::while_preparing)?;
    let ping = json!({"jsonrpc": "2.0", "id": "foreign", "method": "ping"});
    refuses("GET", server.http().await?.request("GET").header("accept", "text/event-stream")).await?;
    refuses("POST", endpoint.request("POST").json(&ping)).await
}

async fn refuses(method: &str, request: HttpRequest) -> Outcome {
    let status = request.header("origin", EVIL).send().await.map_err(Stop::while_preparing)?.status();
    let expected = format!("a status of 4xx for a {method} of the origin {EVIL}");
    ensure!(status >= 400, expected, "status {status}");
    Ok(())
}

async fn every_method_checks_the_origin(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    refuses("GET", session.get()).await?;
    refuses("POST", session.post(&session.simple("foreign"))).await?;
    refuses("DELETE", session.request("DELETE")).await?;
    session.end().await
}

async fn a_foreign_origin_gets_403(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let request = session.post(&session.simple("foreign")).header("origin", EVIL);
    let status = request.send().await.map_err(Stop::while_preparing)?.status();
    if status < 400 {
        let why = format!("the server serves the origin {EVIL}, which another requirement judges");
        return Err(Stop::inconclusive(why));
    }
    ensure!(status == 403, format!("status 403 for a POST of the origin {EVIL}"), "status {status}");
    session.end().await
}

/// Whether a server is reached on the loopback interface.
fn is_local(target: &HttpTarget) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| target.authority().starts_with(host))
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

/// The same of the revisions without HTTP+SSE.
async fn streamable_http_listens_on_the_loopback_interface_only(server: Server) -> Outcome {
    listens_on_the_loopback_interface_only(server).await
}
