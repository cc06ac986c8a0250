//! Making messages, as programs do.

use agentwire_acp_schema::v1::{
    Annotations, ContentBlock, Diff, InitializeRequest, InitializeResponse, McpServerStdio,
    NewSessionRequest, NewSessionResponse, Patch, PermissionOption, PermissionOptionKind, PromptRequest,
    PromptResponse, ProtocolVersion, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    SessionInfoUpdate, SessionNotification, StopReason, TextContent, ToolCall, ToolCallUpdate,
};
use serde::Serialize;
use serde_json::json;

#[track_caller]
fn writes(message: impl Serialize, expected: serde_json::Value) {
    assert_eq!(serde_json::to_value(message).unwrap(), expected);
}

#[test]
fn messages_are_made_from_what_is_required() {
    let req = InitializeRequest::new(ProtocolVersion::V1);
    assert_eq!(InitializeResponse::new(req.protocol_version).protocol_version, ProtocolVersion::LATEST);
    writes(NewSessionRequest::new("/repo"), json!({ "cwd": "/repo", "mcpServers": [] }));
    writes(NewSessionResponse::new("session-1"), json!({ "sessionId": "session-1" }));
    writes(PromptResponse::new(StopReason::EndTurn), json!({ "stopReason": "end_turn" }));
    let text = json!({ "type": "text", "text": "Fix the bug" });
    let session = SessionId::from("s");
    writes(PromptRequest::new(&session, "Fix the bug"), json!({ "sessionId": "s", "prompt": [text] }));
    let blocks: Vec<ContentBlock> = vec!["Fix the bug".into()];
    writes(PromptRequest::new(session.clone(), blocks), json!({ "sessionId": "s", "prompt": [text] }));
    writes(
        SessionNotification::message(&session, "Fix the bug"),
        json!({ "sessionId": "s", "update": { "sessionUpdate": "agent_message_chunk", "content": text } }),
    );
}

#[test]
fn setters_add_what_is_optional() {
    let server = McpServerStdio::new("files", "/bin/files").args(["-v"]);
    writes(
        NewSessionRequest::new("/repo").additional_directories(["/docs"]).mcp_servers([server]),
        json!({ "cwd": "/repo", "additionalDirectories": ["/docs"], "mcpServers": [
            { "name": "files", "command": "/bin/files", "args": ["-v"], "env": [] }
        ] }),
    );
    let call =
        ToolCall::new("c", "Edit").content([Diff::new("/a", "new").old_text("old")]).raw_input(json!({}));
    writes(
        SessionNotification::new("s", call),
        json!({ "sessionId": "s", "update": {
            "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit", "status": "pending",
            "content": [{ "type": "diff", "path": "/a", "oldText": "old", "newText": "new" }], "rawInput": {}
        } }),
    );
    writes(
        ContentBlock::from(TextContent::new("t").annotations(Annotations::new().priority(0.5))),
        json!({ "type": "text", "text": "t", "annotations": { "priority": 0.5 } }),
    );
}

#[test]
fn a_patch_tells_three_things_apart() {
    let mut update = SessionInfoUpdate::new().title("New");
    update.updated_at = Patch::Clear;
    writes(&update, json!({ "title": "New", "updatedAt": null }));
    let (mut title, mut updated_at) = (None, Some("then".to_owned()));
    update.title.apply(&mut title);
    update.updated_at.apply(&mut updated_at);
    Patch::Keep.apply(&mut title);
    assert_eq!((title.as_deref(), updated_at), (Some("New"), None));
}

#[test]
fn allow_allows_or_cancels() {
    let ask = |kinds: &[PermissionOptionKind]| {
        let options = kinds.iter().map(|kind| PermissionOption::new(kind.as_str(), "", kind.clone()));
        RequestPermissionRequest::new("s", ToolCallUpdate::new("c"), options.collect::<Vec<_>>()).allow()
    };
    use PermissionOptionKind::{AllowAlways, AllowOnce, Other, RejectOnce};
    assert_eq!(
        ask(&[RejectOnce, AllowAlways, AllowOnce]),
        RequestPermissionResponse::selected("allow_always")
    );
    assert_eq!(ask(&[RejectOnce, Other("allow_ish".into())]), RequestPermissionResponse::cancelled());
    assert_eq!(ask(&[]), RequestPermissionResponse::cancelled());
}
