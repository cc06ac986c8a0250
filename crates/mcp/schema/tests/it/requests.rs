//! Parameters of requests: progress tokens, arguments, levels, versions and cursors.

use agentwire_jsonrpc::{RawJson, RequestId};
use agentwire_mcp_schema::{
    CallToolParams, CallToolRequest, Completion, Cursor, ElicitResult, HasMeta, ListToolsRequest,
    ListToolsResult, LoggingLevel, LoggingMessageNotification, Paginated, PingRequest, ProgressNotification,
    ProgressToken, ProtocolVersion, Revision, SetLevelRequest,
};
use serde_json::{Value, json};

use crate::{read, write};

#[test]
fn a_progress_token_keeps_its_type() {
    for token in [json!(5), json!("5"), json!(-1), json!(u64::MAX), json!("")] {
        let call: CallToolRequest = read(&json!({ "name": "add", "_meta": { "progressToken": token } }));
        let progress = ProgressNotification::new(call.progress_token().unwrap(), 1.0);
        assert_eq!(write(&progress), json!({ "progressToken": token, "progress": 1 }));
    }
    assert_ne!(ProgressToken::from(5_i64), ProgressToken::from("5"));
}

#[test]
fn invalid_progress_token_asks_for_no_progress() {
    for token in [json!(null), json!(1.5), json!(true), json!({}), json!(["a"])] {
        let call: CallToolRequest = read(&json!({ "name": "add", "_meta": { "progressToken": token } }));
        assert_eq!(call.progress_token(), None, "{token}");
        let notification = json!({ "progressToken": token, "progress": 1 });
        assert!(serde_json::from_value::<ProgressNotification>(notification).is_err(), "{token}");
    }
}

#[test]
fn a_request_takes_its_id_as_token_beside_other_meta() {
    let mut ping: PingRequest = read(&json!({ "_meta": { "k": 1 } }));
    ping.set_progress_token(&RequestId::from("r1").into());
    assert_eq!(write(&ping), json!({ "_meta": { "k": 1, "progressToken": "r1" } }));
}

/// Peers with typed numbers read `50.0` as something else than `50`.
#[test]
fn whole_progress_is_written_as_an_integer() {
    let text = |progress| serde_json::to_string(&ProgressNotification::new(1_i64, progress));
    assert_eq!(text(50.0).unwrap(), r#"{"progressToken":1,"progress":50}"#);
    assert_eq!(text(0.5).unwrap(), r#"{"progressToken":1,"progress":0.5}"#);
    assert_eq!(text(1e300).unwrap(), r#"{"progressToken":1,"progress":1e+300}"#);
    assert!(text(f64::NAN).is_err());
    assert!(text(f64::INFINITY).is_err());
}

#[test]
fn borrowed_params_borrow() {
    let text = r#"{"_meta":{"progressToken":1},"name":"add","arguments": {"a":[1,2,3]}}"#;
    let params: CallToolParams<'_> = serde_json::from_str(text).unwrap();
    let arguments = params.arguments_json();
    assert_eq!(arguments, r#"{"a":[1,2,3]}"#);
    assert!(text.as_bytes().as_ptr_range().contains(&arguments.as_ptr()), "the arguments were copied");
    assert!(text.as_bytes().as_ptr_range().contains(&params.name.as_ptr()), "the name was copied");
    assert_eq!(params.progress_token(), Some(1_i64.into()));

    let again =
        r#"{"name":"add","task":{"ttl":5},"requestState":"s","inputResponses":{"a":{"action":"cancel"}}}"#;
    let again: CallToolParams<'_> = serde_json::from_str(again).unwrap();
    assert_eq!(again.decode_task().unwrap().unwrap().ttl, Some(5));
    assert_eq!(again.decode_request_state().unwrap().as_deref(), Some("s"));
    let answer = &again.decode_input_responses().unwrap().unwrap()["a"];
    assert_eq!(*answer, ElicitResult::cancel().into());

    let none: CallToolParams<'_> = serde_json::from_str(r#"{"name":"a\u0064d"}"#).unwrap();
    assert_eq!((none.decode_task().unwrap(), none.decode_input_responses().unwrap()), (None, None));
    assert_eq!((&*none.name, none.arguments_json()), ("add", "{}"));
}

#[test]
fn arguments_are_an_object() {
    for arguments in ["[1]", "1", "\"{}\"", "true"] {
        let text = format!(r#"{{"name":"add","arguments":{arguments}}}"#);
        assert!(serde_json::from_str::<CallToolRequest>(&text).is_err(), "{text}");
        assert!(serde_json::from_str::<CallToolParams<'_>>(&text).is_err(), "{text}");
    }
    assert!(CallToolRequest::new("add").encode_arguments(&[1]).is_err());

    let none: CallToolRequest = read(&json!({ "name": "add", "arguments": null }));
    assert_eq!(none, CallToolRequest::new("add"));
    let some = CallToolRequest::new("add").encode_arguments(&json!({ "a": 1 })).unwrap();
    assert_eq!(some.arguments.as_ref().map(RawJson::as_str), Some(r#"{"a":1}"#));
}

#[test]
fn unknown_level_is_refused_in_a_request_and_kept_in_a_message() {
    assert!(serde_json::from_value::<SetLevelRequest>(json!({ "level": "loud" })).is_err());
    assert!(serde_json::from_value::<SetLevelRequest>(json!({ "level": "Info" })).is_err());

    let json = json!({ "level": "loud", "data": "x" });
    let message: LoggingMessageNotification = read(&json);
    assert_eq!(write(&message), json);
    assert!(message.level > LoggingLevel::Emergency, "no filter may drop it");
    assert!(LoggingLevel::Debug < LoggingLevel::Info && LoggingLevel::Notice < LoggingLevel::Warning);
}

#[test]
fn any_version_can_be_read() {
    for (name, revision) in [
        ("2024-11-05", Some(Revision::V2024_11_05)),
        ("2025-11-25", Some(Revision::LATEST_LEGACY)),
        ("1999-01-01", None),
        ("", None),
    ] {
        let version: ProtocolVersion = read(&json!(name));
        assert_eq!(version.revision(), revision, "{name}");
        assert_eq!(write(&version), json!(name));
    }
}

#[test]
fn revisions_are_ordered_and_named_alike_everywhere() {
    assert!(Revision::ALL.is_sorted());
    for &revision in Revision::ALL {
        assert_eq!(write(&revision), json!(revision.as_str()));
        assert_eq!(read::<Revision>(&json!(revision.as_str())), revision);
        assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        assert_eq!(ProtocolVersion::from(revision).revision(), Some(revision));
    }
    let with_batches: Vec<_> = Revision::ALL.iter().filter(|revision| revision.has_batches()).collect();
    assert_eq!(with_batches, [&Revision::V2025_03_26]);
}

#[test]
fn the_empty_cursor_is_a_cursor() {
    let page: ListToolsResult = read(&json!({ "tools": [], "nextCursor": "" }));
    assert_eq!((page.tools.len(), &page.next_cursor), (0, &Some(Cursor::from(""))));
    assert_eq!(write(&ListToolsRequest::page(page.next_cursor)), json!({ "cursor": "" }));
    assert_eq!(write(&ListToolsRequest::page(None)), json!({}));
}

#[test]
fn proposals_over_the_limit_are_cut_and_counted() {
    let many = Completion::new(vec![String::new(); 101]);
    assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(101), true));
    let few: Value = write(&Completion::new(vec!["a".into()]));
    assert_eq!(few, json!({ "values": ["a"] }));
}
