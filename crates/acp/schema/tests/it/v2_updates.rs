//! The particulars of version 2's session messages: patches, states, foreign variants with a known part.

use std::num::NonZeroU16;

use agentwire_acp_schema::v2::{
    ContentBlock, DiffChange, DiffOperation, IdleStateUpdate, IdleStopReason, Meta, Patch, PermissionOption,
    PermissionOptionKind, PlanUpdate, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, RunningStateUpdate, SessionUpdate, StateUpdate, TerminalSize, TerminalUpdate,
    ToolCallContent, ToolCallStatus, ToolCallUpdate, UpdateSessionNotification,
};
use agentwire_jsonrpc::ErrorObject;
use serde_json::{Value, json};

use crate::messages::rewrite;

/// Reads an update and writes it back, which must change nothing.
#[track_caller]
fn unchanged(text: &str) -> SessionUpdate {
    let update: SessionUpdate = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&update).unwrap(), text);
    update
}

#[test]
fn a_patch_tells_missing_null_and_value_apart() {
    let SessionUpdate::ToolCallUpdate(update) = unchanged(
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"status":"paused","content":[],"rawInput":[1],"rawOutput":null,"_meta":{"a":null}}"#,
    ) else {
        panic!("not a tool call")
    };
    assert_eq!(update.name, Patch::Keep);
    assert_eq!(update.title, Patch::Clear);
    assert_eq!(update.status, Patch::Set(ToolCallStatus::Paused));
    assert_eq!(update.content, Patch::Set(vec![]));
    assert_eq!(update.raw_input, Patch::Set(json!([1]).into()));
    assert_eq!(update.raw_output, Patch::Clear);

    let SessionUpdate::UsageUpdate(usage) =
        unchanged(r#"{"sessionUpdate":"usage_update","used":1,"size":2,"cost":null}"#)
    else {
        panic!("no usage")
    };
    assert_eq!(usage.cost, Patch::Clear);
}

#[test]
fn a_malformed_patch_keeps() {
    let kept = json!({ "toolCallId": "c" });
    for junk in ["5", "[[]]", "1e999"] {
        for member in ["name", "kind", "status", "locations", "capabilities", "_meta"] {
            let text = format!(r#"{{"toolCallId":"c","{member}":{junk}}}"#);
            let written = rewrite::<ToolCallUpdate>(&text).unwrap();
            match member {
                // A list of nothing but bad items is an empty one, and any string is a status.
                "locations" if junk == "[[]]" => assert_eq!(written["locations"], json!([]), "{text}"),
                _ => assert_eq!(written, kept, "{text}"),
            }
        }
    }
}

#[test]
fn meta_is_merged_by_key() {
    let mut meta = None;
    let patch = |value: Value| serde_json::from_value::<ToolCallUpdate>(value).unwrap().meta;
    patch(json!({ "toolCallId": "c", "_meta": { "a": 1, "b": { "c": 2 } } })).merge(&mut meta);
    patch(json!({ "toolCallId": "c" })).merge(&mut meta);
    patch(json!({ "toolCallId": "c", "_meta": { "a": null, "b": { "d": 3 } } })).merge(&mut meta);
    assert_eq!(meta.as_ref().map(Meta::as_str), Some(r#"{"b":{"d":3}}"#));
    patch(json!({ "toolCallId": "c", "_meta": null })).merge(&mut meta);
    assert_eq!(meta, None);
}

#[test]
fn idle_says_why() {
    let idle = |text: &str| {
        let SessionUpdate::StateUpdate(state) = unchanged(text) else { panic!("no state: {text}") };
        let StateUpdate::Idle(idle) = *state else { panic!("not idle: {text}") };
        idle
    };
    let plain = idle(r#"{"sessionUpdate":"state_update","state":"idle"}"#);
    assert_eq!((plain.stop_reason, plain.background), (None, None));

    let done =
        idle(r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","background":[]}"#);
    assert_eq!((done.stop_reason, done.background), (Some(IdleStopReason::EndTurn), Some(vec![])));

    let failed = idle(
        r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"no"}}"#,
    );
    assert_eq!(failed.stop_reason, Some(ErrorObject::new(-32603, "no").into()));

    let foreign = idle(
        r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"_tired","hours":8,"_meta":{"a":1}}"#,
    );
    let Some(IdleStopReason::Unknown(object)) = &foreign.stop_reason else { panic!("{foreign:?}") };
    assert_eq!(object.as_str(), r#"{"stopReason":"_tired","hours":8}"#);
}

#[test]
fn a_malformed_stop_reason_is_not_told() {
    for reason in ["null", "5", "[]"] {
        let text = format!(r#"{{"stopReason":{reason},"error":7}}"#);
        assert_eq!(serde_json::from_str::<IdleStateUpdate>(&text).unwrap(), IdleStateUpdate::new(), "{text}");
    }
}

/// Not knowing what runs is not the same as knowing that nothing does.
#[test]
fn a_malformed_item_spoils_the_whole_snapshot_of_background_work() {
    let background = |list: &str| {
        let text = format!(r#"{{"background":{list}}}"#);
        serde_json::from_str::<RunningStateUpdate>(&text).unwrap().background
    };
    assert_eq!(background(r#"[{"type":"terminal","terminalId":"t"},{"type":"terminal"}]"#), None);
    assert_eq!(background("7"), None);
    assert_eq!(background(r#"[{"type":"_dream","of":"sheep"}]"#).map(|list| list.len()), Some(1));
}

#[test]
fn a_change_keeps_what_a_foreign_operation_says() {
    let change: DiffChange =
        serde_json::from_str(r#"{"fileType":"text","operation":"split","parts":2,"_meta":{}}"#).unwrap();
    let DiffOperation::Unknown(object) = &change.operation else { panic!("{change:?}") };
    assert_eq!(object.as_str(), r#"{"operation":"split","parts":2}"#);
    assert_eq!(
        serde_json::to_string(&change).unwrap(),
        r#"{"operation":"split","parts":2,"fileType":"text","_meta":{}}"#
    );
    assert_eq!(
        serde_json::to_string(&DiffChange::relocate("/a", "/b").mime_type("text/plain")).unwrap(),
        r#"{"operation":"move","oldPath":"/a","path":"/b","mimeType":"text/plain"}"#
    );
}

#[test]
fn a_bad_change_is_dropped_and_no_list_of_changes_is_an_error() {
    let read = |changes: &str| {
        serde_json::from_str::<ToolCallContent>(&format!(r#"{{"type":"diff","changes":{changes}}}"#))
    };
    let ToolCallContent::Diff(diff) =
        read(r#"[{"operation":"add"},{"operation":"add","path":"/a"}]"#).unwrap()
    else {
        panic!("no diff")
    };
    assert_eq!(diff.changes, [DiffChange::add("/a")]);
    assert!(read("null").is_err());
    assert!(read("{}").is_err());
}

#[test]
fn a_plan_of_a_foreign_type_has_an_id_too() {
    let plan: PlanUpdate = serde_json::from_str(r#"{"plan":{"type":"_map","planId":"p","at":[]}}"#).unwrap();
    assert_eq!(plan.plan.plan_id(), "p");
    assert!(serde_json::from_str::<PlanUpdate>(r#"{"plan":{"type":"_map","at":[]}}"#).is_err());
    assert!(serde_json::from_str::<PlanUpdate>(r#"{"plan":{"planId":5,"type":"_map"}}"#).is_err());
}

#[test]
fn only_an_offered_option_is_an_answer() {
    let options = vec![
        PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
    ];
    let request = RequestPermissionRequest::new("s", "Run it?", options);
    let chosen = |outcome: Value| {
        let outcome: RequestPermissionOutcome = serde_json::from_value(outcome).unwrap();
        request.chosen(&outcome).map(|option| option.kind.clone())
    };
    assert_eq!(
        chosen(json!({ "outcome": "selected", "optionId": "yes" })),
        Some(PermissionOptionKind::AllowOnce)
    );
    assert_eq!(chosen(json!({ "outcome": "selected", "optionId": "maybe" })), None);
    assert_eq!(chosen(json!({ "outcome": "cancelled" })), None);
    assert_eq!(chosen(json!({ "outcome": "granted", "optionId": "yes" })), None);
    assert_eq!(request.allow(), RequestPermissionResponse::selected("yes"));
}

#[test]
fn a_terminal_has_no_size_of_nothing() {
    let terminal: TerminalUpdate =
        serde_json::from_str(r#"{"terminalId":"t","size":{"cols":0,"rows":24}}"#).unwrap();
    assert_eq!(terminal.size, Patch::Keep);
    let size = |number| NonZeroU16::new(number).unwrap();
    assert_eq!(
        serde_json::to_string(&terminal.size(TerminalSize::new(size(80), size(24)))).unwrap(),
        r#"{"terminalId":"t","size":{"cols":80,"rows":24}}"#
    );
}

#[test]
fn messages_of_an_agent_are_short_to_write() {
    let note = UpdateSessionNotification::message("s", "m", "Done.");
    let SessionUpdate::AgentMessageChunk(chunk) = &note.update else { panic!("{note:?}") };
    assert_eq!(chunk.content.as_text(), Some("Done."));
    let note =
        UpdateSessionNotification::state("s", IdleStateUpdate::new().stop_reason(IdleStopReason::EndTurn));
    assert_eq!(
        serde_json::to_string(&note).unwrap(),
        r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}"#
    );
    let foreign: ContentBlock = serde_json::from_str(r#"{"type":"_smell","of":"rain"}"#).unwrap();
    assert!(matches!(foreign, ContentBlock::Unknown(_)));
}
