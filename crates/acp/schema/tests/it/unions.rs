//! Tags: anywhere in the object, known or not, and what is not open to strangers.

use agentwire_acp_schema::v1::{
    AuthMethod, ContentBlock, CreateElicitationResponse, ElicitationAction, McpServer, PermissionOptionKind,
    RequestPermissionResponse, SessionNotification, SessionUpdate, StopReason, ToolKind,
};
use serde_json::json;

use crate::messages::rewrite;

#[test]
fn the_tag_may_come_last_and_is_written_first() {
    let text = r#"{"update":{"_meta":{"a":1},"content":{"text":"t","type":"text"},"sessionUpdate":"agent_message_chunk"},"sessionId":"s"}"#;
    let note: SessionNotification = serde_json::from_str(text).unwrap();
    let SessionUpdate::AgentMessageChunk(chunk) = &note.update else { panic!("{note:?}") };
    assert_eq!(chunk.content.as_text(), Some("t"));
    assert_eq!(
        serde_json::to_string(&note).unwrap(),
        r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"t"},"_meta":{"a":1}}}"#
    );
}

#[test]
fn a_foreign_tag_keeps_the_whole_object_wherever_it_stands() {
    for text in [r#"{"type":"hologram","depth":3,"a":[null]}"#, r#"{"a":[null],"depth":3,"type":"hologram"}"#]
    {
        let block: ContentBlock = serde_json::from_str(text).unwrap();
        let ContentBlock::Unknown(object) = &block else { panic!("{block:?}") };
        assert_eq!(object.as_str(), text);
        assert_eq!(serde_json::to_string(&block).unwrap(), text);
    }
}

#[test]
fn a_tag_must_be_there_and_a_string() {
    for text in
        ["{}", r#"{"text":"t"}"#, r#"{"type":5,"text":"t"}"#, r#"{"text":"t","type":5}"#, "[]", "\"text\""]
    {
        assert!(serde_json::from_str::<ContentBlock>(text).is_err(), "{text}");
    }
}

#[test]
fn no_type_means_stdio_and_agent() {
    let server = json!({ "name": "n", "command": "c", "args": [], "env": [] });
    assert!(matches!(serde_json::from_value(server.clone()), Ok(McpServer::Stdio(_))));
    let mut typed = server.clone();
    typed["type"] = "stdio".into();
    assert_eq!(rewrite::<McpServer>(&typed.to_string()).unwrap(), server);

    let method = json!({ "id": "i", "name": "n" });
    assert!(matches!(serde_json::from_value(method.clone()), Ok(AuthMethod::Agent(_))));
    let mut typed = method.clone();
    typed["type"] = "agent".into();
    assert_eq!(rewrite::<AuthMethod>(&typed.to_string()).unwrap(), method);
}

#[test]
fn resource_with_text_and_blob_is_text() {
    let both = r#"{"type":"resource","resource":{"uri":"file:///a","blob":"AA==","text":"t"}}"#;
    let text = json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "t" } });
    assert_eq!(rewrite::<ContentBlock>(both).unwrap(), text);
}

/// A foreign outcome might be taken for consent by code that only looks for a refusal.
#[test]
fn a_foreign_permission_outcome_is_an_error() {
    let read = |text: &str| serde_json::from_str::<RequestPermissionResponse>(text);
    assert!(read(r#"{"outcome":{"outcome":"granted","optionId":"y"}}"#).is_err());
    assert!(read(r#"{"outcome":{"optionId":"y"}}"#).is_err());
    assert!(read(r#"{"outcome":{"outcome":"selected"}}"#).is_err());
    assert_eq!(
        read(r#"{"outcome":{"optionId":"y","outcome":"selected"}}"#).unwrap(),
        RequestPermissionResponse::selected("y")
    );
}

#[test]
fn a_foreign_elicitation_action_is_none_of_the_known() {
    let response: CreateElicitationResponse =
        serde_json::from_str(r#"{"action":"_later","content":{"a":1}}"#).unwrap();
    assert!(matches!(response.action, ElicitationAction::Unknown(_)));
    let response: CreateElicitationResponse =
        serde_json::from_str(r#"{"action":"accept","content":null}"#).unwrap();
    assert_eq!(serde_json::to_string(&response).unwrap(), r#"{"action":"accept"}"#);
}

#[test]
fn words_are_kept() {
    assert_eq!(StopReason::from("end_turn"), StopReason::EndTurn);
    assert_eq!(StopReason::from("bored"), StopReason::Other("bored".into()));
    assert_eq!(ToolKind::from("other"), ToolKind::Other);
    assert_eq!(ToolKind::from("teleport").as_str(), "teleport");
    assert!(!PermissionOptionKind::from("allow_forever").allows());
}

/// Readers differ in which of two they believe, so what one takes for a refusal could be another's consent.
#[test]
fn a_tag_stands_once() {
    fn refused<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) {
        let read: Result<T, _> = serde_json::from_str(text);
        assert!(read.as_ref().is_err_and(|error| error.to_string().contains("duplicate field")), "{read:?}");
    }
    refused::<RequestPermissionResponse>(
        r#"{"outcome":{"outcome":"selected","outcome":"cancelled","optionId":"x"}}"#,
    );
    refused::<CreateElicitationResponse>(r#"{"action":"accept","action":"decline","content":{}}"#);
    refused::<ContentBlock>(r#"{"type":"text","text":"t","type":"image"}"#);
    refused::<ContentBlock>(r#"{"text":"t","type":"text","type":"image"}"#);
    #[cfg(feature = "v2")]
    refused::<agentwire_acp_schema::v2::RequestPermissionResponse>(
        r#"{"outcome":{"outcome":"selected","outcome":"cancelled","optionId":"x"}}"#,
    );
}
