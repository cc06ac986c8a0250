//! The headers that repeat what stands in the body: the method and the name.

use base64::Engine as _;
use serde_json::{Value, json};

use super::{HEADER_MISMATCH, ask, posted, request};
use crate::check::{Check, HTTP, check};
use crate::conversation::Conversation;
use crate::link::http::HttpRequest;
use crate::link::streamable::header_value;
use crate::mcp_server::Server;
use crate::mcp_server::features::readings;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(method_and_name_equal_the_body, HTTP),
    check!(encoded_names_are_decoded, HTTP),
    check!(names_of_headers_have_no_case, HTTP),
];

pub(crate) fn encoded(value: &str) -> String {
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value))
}

/// A name that nothing has.
pub(crate) const OTHER: &str = "conformance-other";

/// A request that has to be refused.
async fn expect_mismatch(request: HttpRequest, to: &str) -> Outcome {
    ask(request).await?.expect_error(400, HEADER_MISMATCH, to)
}

/// Requests of the three methods with a name, as far as the server has something to name.
async fn named(server: &Server, conversation: &mut Conversation) -> Outcome<Vec<(&'static str, Value)>> {
    let mut requests = match readings(server, conversation).await {
        Err(Stop::NotApplicable(_)) => Vec::new(),
        found => found?,
    };
    if server.needs("/tools").await.is_ok() {
        let tool = server.any_tool(conversation).await;
        requests.extend(tool.into_iter().map(|tool| ("tools/call", tool)));
    }
    Ok(requests)
}

async fn method_and_name_equal_the_body(server: Server) -> Outcome {
    let post = posted(&server, &request(&server, "server/discover", json!({}))).await?;
    expect_mismatch(post.clone().without("mcp-method"), "a request without Mcp-Method").await?;
    for method in ["conformance/other", "SERVER/DISCOVER"] {
        let to = format!("the Mcp-Method {method} of a request of server/discover");
        expect_mismatch(post.clone().header("mcp-method", method), &to).await?;
    }
    let mut conversation = server.open().await?;
    for (method, params) in named(&server, &mut conversation).await? {
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).unwrap_or_default();
        let post = posted(&server, &request(&server, method, params.clone())).await?;
        expect_mismatch(post.clone().without("mcp-name"), &format!("{method} without Mcp-Name")).await?;
        let upper = name.to_ascii_uppercase();
        for other in [OTHER, &upper].into_iter().filter(|other| *other != name) {
            let to = format!("the Mcp-Name {other} of a request of {method} for {name}");
            expect_mismatch(post.clone().header("mcp-name", &header_value(other)), &to).await?;
        }
    }
    Ok(())
}

async fn encoded_names_are_decoded(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let requests = named(&server, &mut conversation).await?;
    if requests.is_empty() {
        return Err(Stop::not_applicable("the server has nothing with a name"));
    }
    for (method, params) in requests {
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).unwrap_or_default();
        let post = posted(&server, &request(&server, method, params.clone())).await?;
        let plain = ask(post.clone()).await.map_err(Stop::while_preparing)?;
        let other = ask(post.clone().header("mcp-name", OTHER)).await.map_err(Stop::while_preparing)?;
        if !other.is_error(400, HEADER_MISMATCH) {
            let why = format!("the server does not refuse another Mcp-Name of {method} that is not encoded");
            return Err(Stop::inconclusive(why));
        }
        let answer = ask(post.clone().header("mcp-name", &encoded(name))).await?;
        ensure!(
            answer.status == plain.status,
            format!("the same response to {method} with the Mcp-Name {name} in base64 as with the plain one"),
            "{} in place of {}",
            answer.as_text(),
            plain.as_text()
        );
        let to = format!("{method} for {name} with another Mcp-Name in base64");
        expect_mismatch(post.header("mcp-name", &encoded(OTHER)), &to).await?;
    }
    Ok(())
}

async fn names_of_headers_have_no_case(server: Server) -> Outcome {
    let target = server.http().await?;
    let body = request(&server, "server/discover", json!({})).to_string();
    let given: String =
        server.hosts.location.headers().iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST {} HTTP/1.1\r\nHOST: {}\r\nCONTENT-TYPE: application/json\r\n\
         ACCEPT: application/json, text/event-stream\r\nMCP-PROTOCOL-VERSION: {}\r\n\
         MCP-METHOD: server/discover\r\nCONTENT-LENGTH: {}\r\n{given}\r\n",
        target.path(),
        target.authority(),
        server.revision(),
        body.len(),
    );
    let mut connection = target.tcp().await?;
    connection.announce(&head, body.as_bytes());
    connection.write(format!("{head}{body}").as_bytes()).await?;
    let response = connection.response().await?;
    ensure!(
        response.head.status == 200,
        "the status 200 for headers in upper case",
        "the status {} and `{}`",
        response.head.status,
        String::from_utf8_lossy(&response.body)
    );
    Ok(())
}
