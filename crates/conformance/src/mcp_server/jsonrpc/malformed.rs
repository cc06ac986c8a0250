//! Checks of servers: what is no message, and messages with members that are missing, wrong or unknown.

use serde_json::{Value, json};

use super::super::Server;
use super::super::raw::{self, is_response, quick, still_works};
use crate::check::{ANY, Check, check};
use crate::fault::Fault;
use crate::faults;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    check!("RPC-13", no_json, ANY, [
        "calls it an invalid request" => recodes(-32700, -32600),
        "is unusable afterwards" => faults::both(faults::loses_response_to("ping"), faults::loses_response_to("server/discover")),
    ]),
    check!("RPC-14", no_message, ANY, [
        "calls it a parse error" => recodes(-32600, -32700),
        "calls it an unknown method" => recodes(-32600, -32601),
    ]),
    check!("RPC-15", no_invented_id, ANY, [
        "makes an id up" => faults::each_response(|m| if m.get("error").is_some() && m["id"].is_null() { m["id"] = json!(0); }),
        "writes the unreadable id as a text" => faults::each_response(|m| if m.get("error").is_some() && m["id"].is_null() { m["id"] = json!(""); }),
    ]),
    check!("RPC-16", wrong_params, ANY, [
        "calls wrong params an invalid request" => recodes(-32602, -32600),
        "calls wrong params its own fault" => recodes(-32602, -32603),
    ]),
    check!("RPC-17", unknown_members, ANY, [
        "refuses what it does not know" => faults::response_to("tools/list", |m| *m = json!({
            "jsonrpc": "2.0", "id": m["id"], "error": {"code": -32602, "message": "unknown member `x`"},
        })),
        "refuses unknown capabilities" => faults::both(refuses("initialize"), refuses("server/discover")),
    ]),
    check!("RPC-20", text_is_utf8, ANY, [
        "reads bytes as Latin-1" => faults::each_response(|m| if let Some(id) = m["id"].as_str() {
            m["id"] = id.bytes().map(char::from).collect::<String>().into();
        }),
    ]),
];

/// Another code instead of the right one.
fn recodes(right: i64, wrong: i64) -> Box<dyn Fault> {
    faults::each_response(move |message| {
        if message["error"]["code"] == right {
            message["error"]["code"] = json!(wrong);
        }
    })
}

fn refuses(method: &'static str) -> Box<dyn Fault> {
    faults::response_to(method, |message| {
        *message = json!({
            "jsonrpc": "2.0", "id": message["id"], "error": {"code": -32602, "message": "unknown member"},
        });
    })
}

async fn no_json(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    for text in ["{", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", "hello", "[1,2"] {
        let reaction = raw::react(&mut conversation, text.as_bytes(), 1).await?;
        reaction.has_error(-32700, &format!("`{text}`"))?;
        let ids_are_null = reaction.messages.iter().all(|message| message["id"].is_null());
        ensure!(ids_are_null, format!("a null id, or none, in the error for `{text}`"), "{reaction}");
    }
    still_works(&server, &mut conversation).await
}

async fn no_message(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let method = quick(&server);
    let values = [
        json!(1),
        json!("x"),
        json!(true),
        json!(null),
        json!({}),
        json!({"jsonrpc": "2.0"}),
        json!({"jsonrpc": "2.0", "id": 1}),
        json!({"jsonrpc": "1.0", "id": 1, "method": method, "params": {}}),
        json!({"id": 1, "method": method, "params": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": 7}),
    ];
    for value in values {
        let reaction = raw::react_to(&mut conversation, &value, 1).await?;
        reaction.has_error(-32600, &format!("`{value}`"))?;
    }
    still_works(&server, &mut conversation).await
}

async fn no_invented_id(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    for id in [json!({}), json!([1]), json!(true)] {
        let message = raw::quick_message(&server, &id);
        let reaction = raw::react_to(&mut conversation, &message, 1).await?;
        let is_error = reaction.is_refused() || reaction.codes().len() == 1;
        ensure!(is_error, format!("an error for the id `{id}`"), "{reaction}");
        let ids_are_null = reaction.messages.iter().all(|message| message["id"].is_null());
        ensure!(ids_are_null, format!("a null id, or none, in the error for the id `{id}`"), "{reaction}");
    }
    Ok(())
}

/// A method that needs params, its valid params, and params of wrong types.
fn wrong_cases(offer: &Value, tool: Option<Value>, by_header: bool) -> Option<(&'static str, Vec<Value>)> {
    let offers = |capability: &str| offer["capabilities"].get(capability).is_some();
    // Over HTTP without a session a header repeats the name, and a message without one fails by that.
    let (method, mut cases) = if let (true, Some(tool)) = (offers("tools"), tool) {
        let mut cases = vec![json!({"name": tool["name"], "arguments": []})];
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
    let mut conversation = server.open().await?;
    let tool = server.any_tool(&mut conversation).await.ok();
    let by_header = server.setting.transport == Transport::Http && !server.revision().has_sessions();
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
    let mut conversation = server.connect().await?;
    let mut capabilities = super::super::capabilities(server.revision());
    capabilities["conformance"] = json!({"x": 1});
    if server.revision().has_sessions() {
        let mut params = server.initialize(capabilities);
        params["conformance"] = json!(1);
        params["clientInfo"]["conformance"] = json!([1]);
        params["_meta"] = json!({"com.example/conformance": 1});
        conversation.ok("initialize", params).await?;
        conversation.notify("notifications/initialized", json!({"conformance": 1})).await?;
    } else {
        conversation.set_meta(server.meta(capabilities));
    }
    conversation.ok(quick(&server), json!({"conformance": {}})).await?;
    let params =
        json!({"conformance": 1, "_meta": {"com.example/conformance": {"x": [1]}, "conformance": 1}});
    if server.offer().await?.pointer("/capabilities/tools").is_some() {
        conversation.ok("tools/list", params.clone()).await?;
    }
    let mut message = raw::quick_message(&server, &json!("unknown"));
    message["conformance"] = json!({"x": 1});
    let reaction = raw::react_to(&mut conversation, &message, 1).await?;
    let has_result = reaction.messages.iter().any(|message| message.get("result").is_some());
    ensure!(has_result, format!("a result of a request with an unknown member, `{message}`"), "{reaction}");
    Ok(())
}

async fn text_is_utf8(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let id = json!("é ∑ 🙂 \u{2028}");
    let message = raw::quick_message(&server, &id).to_string();
    if raw::is_web(&server) {
        conversation.start_as(id.clone(), quick(&server), json!({})).await?;
    } else {
        // The pieces end within characters.
        for piece in format!("{message}\n").as_bytes().chunks(1) {
            conversation.send_bytes(piece).await?;
        }
    }
    let response = conversation.wanted("a response", is_response).await?;
    ensure!(response["id"] == id, format!("the id {id}"), "the id {}", response["id"]);
    still_works(&server, &mut conversation).await
}
