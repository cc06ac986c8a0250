//! Checks of servers: input that is not a message, and messages with members that are missing, wrong or unknown.

use serde_json::{Value, json};

use super::super::Server;
use super::super::raw::{self, quick};
use super::{ready, responses_to};
use crate::check::{ANY, Check, check, shared};
use crate::conversation::Conversation;
use crate::mcp_messages::is_answer;
use crate::requirements::revision::Revision;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    check!(no_json, ANY),
    check!(no_message, ANY),
    check!(no_invented_id, ANY),
    shared!(wrong_params, ANY),
    check!(unknown_members, ANY),
    shared!(text_is_utf8, ANY),
];

async fn no_json(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    for text in ["{", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", "hello", "[1,2"] {
        let reaction = raw::react(&mut conversation, text.as_bytes(), 1).await?;
        reaction.has_error(-32700, &format!("`{text}`"))?;
    }
    Ok(())
}

async fn no_message(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    let mut other_version = raw::quick_message(&server, &json!("version"));
    other_version["jsonrpc"] = json!("1.0");
    let mut values = vec![json!({"jsonrpc": "2.0", "id": "method", "method": 7}), other_version];
    if server.revision() >= Revision::Mcp20251125 {
        // Before, the schema has no error without an id.
        values.extend([json!(1), json!("x")]);
    }
    for value in values {
        let reaction = raw::react_to(&mut conversation, &value, 1).await?;
        reaction.has_error(-32600, &format!("`{value}`"))?;
    }
    Ok(())
}

async fn no_invented_id(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    let with_id = |id: Value| raw::quick_message(&server, &id).to_string();
    let texts = ["{".to_owned(), "hello".to_owned(), "1".to_owned(), with_id(json!({})), with_id(json!([1]))];
    let mut is_silent = true;
    for text in texts {
        let sent: Value = serde_json::from_str(&text).unwrap_or_default();
        for response in responses_to(&server, &mut conversation, text.as_bytes()).await?.messages {
            is_silent = false;
            let id = &response["id"];
            // An id of the wrong type that comes back is not invented.
            ensure!(
                id.is_null() || *id == sent["id"],
                format!("a null id, or none, in the error about `{text}`"),
                "`{response}`"
            );
        }
    }
    if is_silent {
        return Err(Stop::inconclusive("the server answers no message whose id it cannot read"));
    }
    Ok(())
}

/// A method that needs params, its valid params, and params of wrong types.
fn wrong_cases(offer: &Value, tool: Option<Value>, by_header: bool) -> Option<(&'static str, Vec<Value>)> {
    let offers = |capability: &str| offer["capabilities"].get(capability).is_some();
    // Over HTTP without a session a header repeats the name, and a message without one fails by that.
    let (method, mut cases) = if let (true, Some(tool)) = (offers("tools"), tool) {
        let mut cases = vec![json!({"name": tool["name"], "arguments": [7]})];
        cases.push(json!({"name": tool["name"], "arguments": "x"}));
        if !by_header {
            cases.push(json!({"arguments": {}}));
        }
        ("tools/call", cases)
    } else if offers("prompts") {
        ("prompts/get", vec![])
    } else if offers("resources") {
        ("resources/read", vec![])
    } else {
        return None;
    };
    if !by_header {
        cases.extend([json!({"name": 7, "uri": 7}), json!({})]);
    }
    Some((method, cases)).filter(|(_, cases)| !cases.is_empty())
}

async fn wrong_params(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let mut conversation = ready(&server).await?;
    let tool = server.any_tool(&mut conversation).await.ok();
    let by_header = server.setting.transport == Transport::Http && !server.revision().is_legacy();
    let Some((method, cases)) = wrong_cases(&offer, tool, by_header) else {
        return Err(Stop::not_applicable("the server offers no tools, prompts or resources"));
    };
    for params in cases {
        let error = conversation.error(method, params.clone()).await?;
        ensure!(
            error["code"] == -32602,
            format!("error -32602 for {method} with the params `{params}`"),
            "`{error}`"
        );
    }
    Ok(())
}

async fn unknown_members(server: Server) -> Outcome {
    // The handshake without unknown members.
    let offer = server.offer().await?;
    let mut conversation = server.connect().await?;
    let mut capabilities = super::super::capabilities(server.revision());
    capabilities["conformance"] = json!({"x": 1});
    let own = json!({"conformance": 1, "_meta": {"com.example/conformance": {"x": [1]}, "conformance": 1}});
    if server.revision().is_legacy() {
        let mut params = server.initialize(capabilities);
        params["conformance"] = own["conformance"].clone();
        params["_meta"] = own["_meta"].clone();
        conversation.ok("initialize", params).await?;
        conversation.notify("notifications/initialized", own.clone()).await?;
    } else {
        conversation.set_meta(server.meta(capabilities));
    }
    conversation.ok(quick(&server), own.clone()).await?;
    if offer.pointer("/capabilities/tools").is_some() {
        conversation.ok("tools/list", own).await?;
    }
    Ok(())
}

async fn text_is_utf8(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    in_pieces(&server, &mut conversation, &json!("plain")).await.map_err(Stop::while_preparing)?;
    let id = json!("é ∑ 🙂");
    let seen = in_pieces(&server, &mut conversation, &id).await?;
    ensure!(seen == id, format!("the id {id}"), "the id {seen}");
    Ok(())
}

/// Sends a request, on stdio in pieces that end within characters. Returns the id of its response.
async fn in_pieces(server: &Server, conversation: &mut Conversation, id: &Value) -> Outcome<Value> {
    if raw::is_web(server) {
        conversation.start_as(id.clone(), quick(server), json!({})).await?;
    } else {
        let message = raw::quick_message(server, id);
        for piece in format!("{message}\n").as_bytes().chunks(1) {
            conversation.send_bytes(piece).await?;
        }
    }
    let what = format!("a response to a request with the id {id}");
    Ok(conversation.wanted(&what, is_answer).await?["id"].take())
}
