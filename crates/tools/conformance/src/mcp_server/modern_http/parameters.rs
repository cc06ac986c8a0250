//! The headers that repeat arguments of tools.

use base64::Engine as _;
use serde_json::{Value, json};

use super::{HEADER_MISMATCH, ask, posted, request};
use crate::check::{Check, HTTP, check};
use crate::link::http::HttpRequest;
use crate::mcp_server::Server;
use crate::mcp_server::features::tools::uncallable;
use crate::mcp_server::features::{List, entries};
use crate::verdict::{Outcome, Stop};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] =
    &[check!(parameter_headers_equal_the_arguments, HTTP), check!(integers_are_compared_as_numbers, HTTP)];

pub(crate) const VALUE: &str = "conformance-value";

pub(crate) fn encoded(value: &str) -> String {
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value))
}

/// The call of a tool that needs at most one argument, which is marked and of a type: the POST and the name of the header.
async fn marked(server: &Server, kind: &str, value: Value) -> Outcome<(HttpRequest, String)> {
    server.needs("/tools").await?;
    let mut conversation = server.open().await?;
    let mut missing = Stop::not_applicable(format!(
        "no tool needs but one argument of the type {kind} marked x-mcp-header"
    ));
    let listed = entries(&mut conversation, List::TOOLS).await?;
    for tool in &listed {
        let schema = &tool["inputSchema"];
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let Some(header) = property["x-mcp-header"].as_str() else { continue };
            if property["type"] != kind || required.iter().any(|needed| needed != name) {
                continue;
            }
            if server.may_call(tool, &listed) {
                let params = json!({"name": tool["name"], "arguments": { name: value }});
                let post = posted(server, &request(server, "tools/call", params)).await?;
                return Ok((post, format!("mcp-param-{header}")));
            }
            missing = uncallable();
        }
    }
    Err(missing)
}

async fn parameter_headers_equal_the_arguments(server: Server) -> Outcome {
    let (post, header) = marked(&server, "string", json!(VALUE)).await?;
    let to = format!("{VALUE} in {header} for the argument {VALUE}");
    let right = ask(post.clone().header(&header, VALUE)).await.map_err(Stop::while_preparing)?;
    right.expect_result(&to).map_err(Stop::while_preparing)?;
    let refused = [
        ("no value", None),
        ("another value", Some("conformance-other")),
        ("a value that cannot be decoded", Some("=?base64?*?=")),
    ];
    for (what, value) in refused {
        let post = match value {
            Some(value) => post.clone().header(&header, value),
            None => post.clone(),
        };
        let to = format!("{what} in {header} for the argument {VALUE}");
        ask(post).await?.expect_error(400, HEADER_MISMATCH, &to)?;
    }
    let to = format!("{} in {header} for the argument {VALUE}", encoded(VALUE));
    ask(post.header(&header, &encoded(VALUE))).await?.expect_result(&to).map(drop)
}

async fn integers_are_compared_as_numbers(server: Server) -> Outcome {
    let (post, header) = marked(&server, "integer", json!(42)).await?;
    ask(post.clone().header(&header, "42"))
        .await
        .map_err(Stop::while_preparing)?
        .expect_result("42 for the argument 42")
        .map_err(Stop::while_preparing)?;
    ask(post.header(&header, "42.0"))
        .await?
        .expect_result(&format!("42.0 in {header} for the argument 42"))?;
    Ok(())
}
