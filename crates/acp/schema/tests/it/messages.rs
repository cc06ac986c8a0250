//! Every message of `messages.jsonl` is read and written back without a difference.

use std::collections::BTreeSet;

use agentwire_acp_schema::v1::{
    AuthenticateRequest, CancelNotification, CancelRequestNotification, CloseSessionRequest,
    CompleteElicitationNotification, CreateElicitationRequest, CreateTerminalRequest, DeleteSessionRequest,
    InitializeRequest, KillTerminalRequest, ListSessionsRequest, LoadSessionRequest, LogoutRequest, METHODS,
    MethodKind, NewSessionRequest, PromptRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    RequestPermissionRequest, ResumeSessionRequest, SessionNotification, SetSessionConfigOptionRequest,
    SetSessionModeRequest, TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const MESSAGES: &str = include_str!("messages.jsonl");

/// Reads JSON text into a type and gives what the type writes.
type Rewrite = fn(&str) -> serde_json::Result<Value>;

/// A method as its types know it.
pub(crate) struct Types {
    pub(crate) name: &'static str,
    pub(crate) params: Rewrite,
    pub(crate) result: Option<Rewrite>,
}

fn request<T: RequestMethod>() -> Types {
    Types { name: T::NAME, params: rewrite::<T>, result: Some(rewrite::<T::Response>) }
}

fn notification<T: NotificationMethod>() -> Types {
    Types { name: T::NAME, params: rewrite::<T>, result: None }
}

pub(crate) fn rewrite<T: Serialize + DeserializeOwned>(json: &str) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_str::<T>(json)?)
}

pub(crate) fn all() -> [Types; 25] {
    [
        request::<AuthenticateRequest>(),
        request::<InitializeRequest>(),
        request::<LogoutRequest>(),
        notification::<CancelNotification>(),
        request::<CloseSessionRequest>(),
        request::<DeleteSessionRequest>(),
        request::<ListSessionsRequest>(),
        request::<LoadSessionRequest>(),
        request::<NewSessionRequest>(),
        request::<PromptRequest>(),
        request::<ResumeSessionRequest>(),
        request::<SetSessionConfigOptionRequest>(),
        request::<SetSessionModeRequest>(),
        notification::<CompleteElicitationNotification>(),
        request::<CreateElicitationRequest>(),
        request::<ReadTextFileRequest>(),
        request::<WriteTextFileRequest>(),
        request::<RequestPermissionRequest>(),
        notification::<SessionNotification>(),
        request::<CreateTerminalRequest>(),
        request::<KillTerminalRequest>(),
        request::<TerminalOutputRequest>(),
        request::<ReleaseTerminalRequest>(),
        request::<WaitForTerminalExitRequest>(),
        notification::<CancelRequestNotification>(),
    ]
}

pub(crate) fn types(method: &str) -> Types {
    all().into_iter().find(|types| types.name == method).unwrap_or_else(|| panic!("no types for {method}"))
}

#[test]
fn the_table_and_the_types_agree() {
    for (types, line) in all().iter().zip(METHODS) {
        assert_eq!(types.name, line.name);
        assert_eq!(types.result.is_some(), line.kind == MethodKind::Request, "{}", line.name);
    }
    assert_eq!(METHODS.len(), all().len());
}

#[test]
fn messages_come_back_as_they_were() {
    let mut seen = BTreeSet::new();
    for line in MESSAGES.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        let method = message["method"].as_str().unwrap();
        let types = types(method);
        seen.insert(types.name);
        let check = |rewrite: Rewrite, part: &Value| match rewrite(&part.to_string()) {
            Ok(written) => assert_eq!(&written, part, "{method}"),
            Err(error) => panic!("{method}: {error}: {part}"),
        };
        check(types.params, &message["params"]);
        assert_eq!(types.result.is_some(), message.get("result").is_some(), "{line}");
        if let Some(result) = types.result {
            check(result, &message["result"]);
        }
    }
    assert_eq!(seen.len(), METHODS.len(), "a method has no example");
}

/// Values and text are read in the same way.
#[test]
fn messages_are_read_from_values_too() {
    for line in MESSAGES.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["method"] == "session/update" {
            let params = message["params"].clone();
            let note: SessionNotification = serde_json::from_value(params.clone()).unwrap();
            assert_eq!(serde_json::to_value(note).unwrap(), params);
        }
    }
}

/// No member of a request may be missing that the protocol requires, however much else is read leniently.
#[test]
fn missing_members_are_errors() {
    let required = [
        ("initialize", r#"{"clientCapabilities":{}}"#, "protocolVersion"),
        ("authenticate", "{}", "methodId"),
        ("session/new", r#"{"mcpServers":[]}"#, "cwd"),
        ("session/load", r#"{"cwd":"/"}"#, "sessionId"),
        ("session/prompt", r#"{"sessionId":"s"}"#, "prompt"),
        ("session/update", r#"{"sessionId":"s"}"#, "update"),
        ("session/update", r#"{"sessionId":"s","update":{}}"#, "sessionUpdate"),
        ("session/update", r#"{"sessionId":"s","update":{"sessionUpdate":"plan"}}"#, "entries"),
        (
            "session/update",
            r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}"#,
            "content",
        ),
        ("session/set_config_option", r#"{"sessionId":"s","configId":"c"}"#, "value"),
        ("session/request_permission", r#"{"sessionId":"s","toolCall":{},"options":[]}"#, "toolCallId"),
        ("elicitation/create", r#"{"message":"m","sessionId":"s"}"#, "mode"),
        ("elicitation/create", r#"{"message":"m","mode":"form","sessionId":"s"}"#, "requestedSchema"),
        ("elicitation/create", r#"{"message":"m","mode":"form","requestedSchema":{}}"#, "sessionId"),
    ];
    for (method, params, member) in required {
        let error = (types(method).params)(params).unwrap_err().to_string();
        assert!(error.contains(&format!("`{member}`")), "{method}: {error}");
    }
}
