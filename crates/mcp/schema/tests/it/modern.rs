//! Types of revision 2026-07-28: modern requests, results that ask, and results that may be cached.

use agentwire_jsonrpc::{ErrorObject, RequestId};
use agentwire_mcp_schema::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{D, E, read, write};

fn check<T: DeserializeOwned + Serialize + Downgrade>(json: Value) {
    let mut value: T = read(&json);
    assert_eq!(write(&value), json);
    value.downgrade(E);
    assert_eq!(write(&value), json, "downgraded to {E}");
}

/// A value of an older revision on its way to a newer one, and back.
fn both_ways<T: DeserializeOwned + Serialize + Downgrade>(older: Value, newer: Value) {
    let mut value: T = read(&older);
    value.downgrade(E);
    assert_eq!(write(&value), newer, "to {E}");
    value.downgrade(D);
    assert_eq!(write(&value), older, "back to {D}");
}

#[test]
fn the_new_types_come_back_as_they_were() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    check::<DiscoverRequest>(json!({ "_meta": meta }));
    check::<DiscoverResult>(json!({
        "supportedVersions": ["2026-07-28", "2031-01-01"],
        "capabilities": { "tools": {}, "extensions": { "example.com/x": { "y": 1 } } },
        "instructions": "Add.", "resultType": "complete", "ttlMs": 1000, "cacheScope": "public",
    }));
    let filter = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["file:///a"], "example.com/x": 1,
    });
    check::<SubscriptionsListenRequest>(json!({ "notifications": filter, "_meta": meta }));
    check::<SubscriptionsAcknowledgedNotification>(json!({
        "notifications": filter, "_meta": { "io.modelcontextprotocol/subscriptionId": 7 },
    }));
    check::<SubscriptionsListenResult>(json!({
        "resultType": "complete", "_meta": { "io.modelcontextprotocol/subscriptionId": "7" },
    }));
    check::<InputRequiredResult>(json!({
        "resultType": "input_required", "requestState": "s",
        "inputRequests": {
            "a": { "method": "elicitation/create", "params": { "message": "Go", "mode": "url", "url": "https://example.com" } },
            "b": { "method": "roots/list", "params": {} },
            "c": { "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 1 } },
        },
    }));
    check::<CallToolRequest>(json!({
        "name": "add", "requestState": "s", "_meta": meta,
        "inputResponses": {
            "a": { "action": "accept", "content": { "k": true } },
            "b": { "roots": [{ "uri": "file:///a" }] },
            "c": { "role": "assistant", "model": "m", "content": { "type": "text", "text": "t" } },
            "d": { "something": "else" },
        },
    }));
    check::<CallToolResult>(
        json!({ "content": [], "structuredContent": [1, "two"], "resultType": "complete" }),
    );
    check::<Tool>(json!({
        "name": "add", "inputSchema": { "type": "object" }, "outputSchema": { "type": "array" },
    }));
}

#[test]
fn result_has_its_type_and_its_time_to_live() {
    both_ways::<EmptyResult>(json!({}), json!({ "resultType": "complete" }));
    both_ways::<ListToolsResult>(
        json!({ "tools": [], "nextCursor": "2" }),
        json!({
            "tools": [], "nextCursor": "2", "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        }),
    );
    both_ways::<ReadResourceResult>(
        json!({ "contents": [{ "uri": "file:///a", "text": "" }] }),
        json!({
            "contents": [{ "uri": "file:///a", "text": "" }],
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        }),
    );
    both_ways::<GetPromptResult>(
        json!({ "messages": [] }),
        json!({ "messages": [], "resultType": "complete" }),
    );

    let said = json!({ "tools": [], "resultType": "complete", "ttlMs": 5000, "cacheScope": "public" });
    check::<ListToolsResult>(said);
}

#[test]
fn negative_time_to_live_means_zero() {
    let ttl = |json: Value| serde_json::from_value::<ListToolsResult>(json).map(|page| page.ttl_ms);
    assert_eq!(ttl(json!({ "tools": [], "ttlMs": -1 })).unwrap(), Some(0));
    assert_eq!(ttl(json!({ "tools": [], "ttlMs": u64::MAX })).unwrap(), Some(u64::MAX));
    assert_eq!(ttl(json!({ "tools": [], "ttlMs": null })).unwrap(), None);
    assert!(ttl(json!({ "tools": [], "ttlMs": "5" })).is_err());
    assert!(ttl(json!({ "tools": [], "ttlMs": 0.5 })).is_err());
}

#[test]
fn members_that_only_sessions_have_are_removed() {
    let downgraded = |full: Value| -> Value {
        let mut value: ClientCapabilities = read(&full);
        value.downgrade(E);
        write(&value)
    };
    assert_eq!(
        downgraded(
            json!({ "roots": { "listChanged": true }, "tasks": { "list": {} }, "extensions": { "x": {} } })
        ),
        json!({ "roots": {}, "extensions": { "x": {} } })
    );

    let mut call: CallToolRequest = read(&json!({ "name": "add", "task": { "ttl": 5 } }));
    call.downgrade(E);
    assert_eq!(write(&call), json!({ "name": "add" }));

    let mut page = ElicitRequest::Url(ElicitUrlRequest::new("m", "https://example.com").elicitation_id("e1"));
    page.downgrade(E);
    assert_eq!(write(&page), json!({ "mode": "url", "message": "m", "url": "https://example.com" }));
}

#[test]
fn structured_content_that_is_no_object_becomes_text_before() {
    let mut result: CallToolResult = read(&json!({ "content": [], "structuredContent": [1] }));
    result.downgrade(D);
    assert_eq!(write(&result), json!({ "content": [{ "type": "text", "text": "[1]" }] }));

    let mut tool: Tool = read(
        &json!({ "name": "a", "inputSchema": { "type": "object" }, "outputSchema": { "type": "array" } }),
    );
    tool.downgrade(D);
    assert_eq!(write(&tool), json!({ "name": "a", "inputSchema": { "type": "object" } }));
}

#[test]
fn questions_inside_of_a_result_are_downgraded_too() {
    let mut wanted: InputRequiredResult = read(&json!({
        "resultType": "input_required",
        "inputRequests": {
            "a": { "method": "elicitation/create", "params": {
                "message": "m", "requestedSchema": { "type": "object", "properties": {} }, "_meta": { "progressToken": 1 },
            } },
        },
    }));
    wanted.downgrade(E);
    assert_eq!(
        write(&wanted)["inputRequests"]["a"]["params"],
        json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } })
    );
}

#[test]
fn request_describes_its_client_and_its_revision() {
    let mut call = CallToolRequest::new("add");
    call.meta = read(&json!({ "example.com/trace": "t" }));
    let about = RequestMeta::new(E, read(&json!({ "elicitation": {} })))
        .client_info(Implementation::new("editor", "1"))
        .log_level(LoggingLevel::Info)
        .progress_token(7_i64);
    about.write_to(call.meta_slot());
    let json = json!({
        "name": "add",
        "_meta": {
            "example.com/trace": "t",
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            "io.modelcontextprotocol/clientInfo": { "name": "editor", "version": "1" },
            "io.modelcontextprotocol/logLevel": "info",
            "progressToken": 7,
        },
    });
    assert_eq!(write(&call), json);

    let call: CallToolRequest = read(&json);
    assert_eq!(RequestMeta::read(call.meta_ref()).unwrap(), about);
    assert_eq!(call.progress_token(), about.progress_token);
    assert!(RequestMeta::is_modern(call.meta_ref()));
}

#[test]
fn incomplete_request_meta_is_an_error() {
    let missing: Meta = read(&json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" }));
    assert!(RequestMeta::read(Some(&missing)).is_err(), "the capabilities are missing");
    assert!(RequestMeta::read(None).is_err());
    assert_eq!(RequestMeta::version(Some(&missing)), Some(E.into()));
    assert!(RequestMeta::is_modern(Some(&missing)));

    let modern = |version: Value| {
        let meta: Meta = read(&json!({ "io.modelcontextprotocol/protocolVersion": version }));
        RequestMeta::is_modern(Some(&meta))
    };
    assert!(modern(json!("2031-01-01")), "one that we do not know is for the server to refuse");
    assert!(!modern(json!("2025-11-25")));
    assert!(!modern(json!(20_260_728)));
    assert!(!RequestMeta::is_modern(None));
}

#[test]
fn notifications_name_their_subscription_with_its_type() {
    for id in [RequestId::from(42_i64), RequestId::from("42")] {
        let note = SubscriptionsAcknowledgedNotification::new(id.clone(), SubscriptionFilter::default());
        assert_eq!(NotificationMeta::read(note.meta_ref()).unwrap().subscription_id, Some(id.clone()));
        let end = SubscriptionsListenResult::new(id.clone());
        assert_eq!(SubscriptionsListenResultMeta::read(end.meta_ref()).unwrap().subscription_id, id);
    }
    assert_eq!(NotificationMeta::read(None).unwrap(), NotificationMeta::default());
    let info = ResultMeta::new(Implementation::new("calculator", "1"));
    assert_eq!(ResultMeta::read(Some(&info.to_meta())).unwrap(), info);
}

#[test]
fn outcome_is_recognized_by_its_result_type() {
    let outcome = |json: Value| read::<Outcome<CallToolResult>>(&json);
    assert!(matches!(outcome(json!({ "content": [] })), Outcome::Complete(_)), "older servers say nothing");
    assert!(matches!(outcome(json!({ "content": [], "resultType": "complete" })), Outcome::Complete(_)));
    assert!(matches!(
        outcome(json!({ "resultType": "input_required", "requestState": "s" })),
        Outcome::InputRequired(_)
    ));
    let task = json!({
        "resultType": "task", "taskId": "t1", "status": "working", "ttlMs": null,
        "createdAt": "2026-08-01T10:00:00Z", "lastUpdatedAt": "2026-08-01T10:00:00Z",
    });
    assert!(matches!(outcome(task.clone()), Outcome::Task(_)));
    let strange = json!({ "resultType": "riddle", "x": 1 });
    assert!(matches!(outcome(strange.clone()), Outcome::Unknown(_)));
    for json in [task, strange] {
        assert_eq!(write(&outcome(json.clone())), json);
    }
    assert!(serde_json::from_str::<Outcome<CallToolResult>>(r#"{"resultType":1}"#).is_err());
}

#[test]
fn answer_is_recognized_by_its_own_member() {
    let kind = |json: Value| match read::<InputResponse>(&json) {
        InputResponse::Elicit(_) => "elicit",
        InputResponse::ListRoots(_) => "roots",
        InputResponse::CreateMessage(_) => "message",
        _ => "unknown",
    };
    assert_eq!(kind(json!({ "action": "decline" })), "elicit");
    assert_eq!(kind(json!({ "roots": [] })), "roots");
    let message = json!({ "model": "m", "role": "assistant", "content": { "type": "text", "text": "t" } });
    assert_eq!(kind(message), "message");
    for strange in [json!({}), json!({ "action": 1 }), json!({ "roots": {} }), json!("text"), json!(null)] {
        assert_eq!(kind(strange.clone()), "unknown", "{strange}");
        assert_eq!(write(&read::<InputResponse>(&strange)), strange, "it is for the server to judge");
    }
}

#[test]
fn unknown_question_is_refused() {
    for bad in [
        json!({ "method": "tools/call", "params": { "name": "a" } }),
        json!({ "params": {} }),
        json!({ "method": "elicitation/create", "params": {} }),
    ] {
        assert!(serde_json::from_value::<InputRequest>(bad.clone()).is_err(), "{bad}");
    }
    assert_eq!(read::<InputRequest>(&json!({ "method": "roots/list" })).method(), "roots/list");
}

#[test]
fn errors_carry_their_data() {
    let missing = code::MissingCapabilities::new(read(&json!({ "sampling": {} })));
    let unsupported = code::UnsupportedVersion::new(vec![E.into()], "1999-01-01");
    for (error, json) in [
        (
            ErrorObject::from(missing),
            json!({ "code": -32021, "data": { "requiredCapabilities": { "sampling": {} } } }),
        ),
        (
            ErrorObject::from(unsupported),
            json!({ "code": -32022, "data": { "supported": ["2026-07-28"], "requested": "1999-01-01" } }),
        ),
        (code::missing_resource("x:", D), json!({ "code": -32002, "data": { "uri": "x:" } })),
        (code::missing_resource("x:", E), json!({ "code": -32602, "data": { "uri": "x:" } })),
    ] {
        let mut written = write(&error);
        written.as_object_mut().unwrap().remove("message");
        assert_eq!(written, json);
    }
}
