//! Version 2 up to the first prompt: what is special about its handshake, sessions, options, questions and errors.

use agentwire_acp_schema::v2::error_code::{RESOURCE_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION};
use agentwire_acp_schema::v2::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AvailableCommand, Command, CreateElicitationRequest,
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction, ElicitationContentValue,
    ElicitationFormMode, ElicitationMode, ElicitationSchema, ErrorData, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsResponse, METHODS, McpServer, McpServerHttp, McpServerStdio,
    NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptImageCapabilities, ProtocolVersion,
    ReplayFrom, ResumeSessionRequest, SessionCapabilities, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionValue, SessionConfigSelectGroup, SessionConfigSelectOption, SessionId,
    SessionNotFoundErrorData, SetSessionConfigOptionRequest, StringPropertySchema, TextCommandInput,
    UnsupportedProtocolVersionErrorData,
};
use agentwire_jsonrpc::ErrorObject;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::messages::rewrite;

/// The value of a type for JSON text, which must be the same text.
fn same<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value: T = serde_json::from_str(text).expect(text);
    assert_eq!(serde_json::to_string(&value).expect("it came from JSON"), text);
    value
}

fn refused<T: DeserializeOwned>(text: &str) {
    assert!(serde_json::from_str::<T>(text).is_err(), "{text}");
}

#[test]
fn the_table_has_each_method_once() {
    let mut names: Vec<_> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(names.len(), 18);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 18);
}

#[test]
fn beginning_of_a_conversation_is_short_to_write() {
    let session =
        SessionCapabilities::new().prompt(PromptCapabilities::new().image(PromptImageCapabilities::new()));
    let initialized = InitializeResponse::new(ProtocolVersion::V2, Implementation::new("a", "1"))
        .capabilities(AgentCapabilities::new().session(session))
        .auth_methods([AuthMethodAgent::new("key", "Key")]);
    assert_eq!(
        serde_json::to_value(&initialized).expect("it has a JSON form"),
        json!({
            "protocolVersion": 2,
            "info": { "name": "a", "version": "1" },
            "capabilities": { "session": { "prompt": { "image": {} } } },
            "authMethods": [{ "type": "agent", "methodId": "key", "name": "Key" }],
        }),
    );
    let servers: [McpServer; 2] = [
        McpServerStdio::new("files", "/bin/files").into(),
        McpServerHttp::new("web", "https://a.example/").into(),
    ];
    assert_eq!(
        serde_json::to_value(NewSessionRequest::new("/repo").mcp_servers(servers))
            .expect("it has a JSON form"),
        json!({ "cwd": "/repo", "mcpServers": [
            { "type": "stdio", "name": "files", "command": "/bin/files" },
            { "type": "http", "name": "web", "url": "https://a.example/" },
        ] }),
    );
    let resume = ResumeSessionRequest::new("s", "/repo").replay_from(ReplayFrom::start());
    same::<ResumeSessionRequest>(r#"{"sessionId":"s","cwd":"/repo","replayFrom":{"type":"start"}}"#);
    assert_eq!(resume.replay_from, Some(ReplayFrom::start()));
}

#[test]
fn whoever_initializes_says_who_they_are() {
    refused::<InitializeRequest>(r#"{"protocolVersion":2}"#);
    refused::<InitializeResponse>(r#"{"protocolVersion":2,"capabilities":{}}"#);
    let odd =
        r#"{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":true,"odd":1}}"#;
    let request: InitializeResponse = serde_json::from_str(odd).expect(odd);
    assert_eq!(request.capabilities.session, None);
    assert_eq!(request.capabilities.extra.as_str(), r#"{"odd":1}"#);
}

#[test]
fn a_foreign_variant_is_kept_with_the_members_that_all_have() {
    let method: AuthMethod = same(r#"{"type":"_sso","methodId":"m","name":"SSO","realm":"x"}"#);
    assert!(matches!(&method, AuthMethod::Unknown(_)));
    assert_eq!(method.method_id().as_deref(), Some("m"));
    refused::<AuthMethod>(r#"{"type":"_sso","methodId":"m"}"#);
    refused::<AuthMethod>(r#"{"methodId":"m","name":"n"}"#);
    same::<AvailableCommand>(r#"{"type":"_skill","description":"d","name":"n","path":"/x"}"#);
    refused::<AvailableCommand>(r#"{"type":"_skill","name":"n"}"#);
    let server: McpServer = same(r#"{"type":"_ws","name":"w","url":"wss://a.example/"}"#);
    assert_eq!(server.name().as_deref(), Some("w"));
    refused::<McpServer>(r#"{"name":"files","command":"/bin/files","args":[],"env":[]}"#);
    same::<ReplayFrom>(r#"{"type":"_message","messageId":"m"}"#);
}

#[test]
fn bad_options_and_commands_are_dropped_and_a_bad_replay_is_not() {
    let made = rewrite::<NewSessionResponse>(
        r#"{"sessionId":"s","configOptions":[{"type":"boolean"}],"availableCommands":null}"#,
    );
    assert_eq!(made.expect("only optional members are wrong"), json!({ "sessionId": "s" }));
    refused::<ResumeSessionRequest>(r#"{"sessionId":"s","cwd":"/repo","replayFrom":{"type":1}}"#);
    let page: ListSessionsResponse = same(r#"{"sessions":[],"nextCursor":""}"#);
    assert_eq!(page.next_cursor.as_deref(), Some(""));
    let command: AvailableCommand = Command::new("plan", "Plan").input(TextCommandInput::new("what")).into();
    let text =
        r#"{"type":"command","name":"plan","description":"Plan","input":{"type":"text","hint":"what"}}"#;
    assert_eq!(same::<AvailableCommand>(text), command);
}

#[test]
fn an_option_holds_its_values_as_its_own_members() {
    let fast = SessionConfigSelectOption::new("fast", "Fast");
    let groups = vec![SessionConfigSelectGroup::new("all", "All", [fast])];
    let option = SessionConfigOption::select("model", "Model", "fast", groups);
    let text = concat!(
        r#"{"configId":"model","name":"Model","type":"select","currentValue":"fast","options":"#,
        r#"[{"groupId":"all","name":"All","options":[{"value":"fast","name":"Fast"}]}]}"#,
    );
    assert_eq!(same::<SessionConfigOption>(text), option);
    let slider = r#"{"configId":"heat","name":"Heat","type":"_slider","currentValue":3,"_meta":{"a":1}}"#;
    let option = serde_json::from_str::<SessionConfigOption>(slider).expect(slider);
    let SessionConfigKind::Unknown(members) = &option.kind else { panic!("{option:?}") };
    assert_eq!(members.as_str(), r#"{"type":"_slider","currentValue":3}"#);
    let value: Value = serde_json::from_str(slider).expect(slider);
    assert_eq!(serde_json::to_value(&option).expect("it came from JSON"), value);
}

#[test]
fn a_new_value_names_its_type() {
    let set = SetSessionConfigOptionRequest::new("s", "model", "fast");
    let text = r#"{"sessionId":"s","configId":"model","type":"id","value":"fast"}"#;
    assert_eq!(same::<SetSessionConfigOptionRequest>(text), set);
    let set: SetSessionConfigOptionRequest =
        same(r#"{"sessionId":"s","configId":"loud","type":"boolean","value":true}"#);
    assert_eq!(set.value, SessionConfigOptionValue::Boolean(true));
    let set: SetSessionConfigOptionRequest =
        same(r#"{"sessionId":"s","configId":"heat","type":"_level","value":null}"#);
    assert!(matches!(set.value, SessionConfigOptionValue::Unknown(_)));
    for odd in [
        r#"{"sessionId":"s","configId":"model","value":"fast"}"#,
        r#"{"sessionId":"s","configId":"model","type":"id","value":true}"#,
        r#"{"sessionId":"s","configId":"heat","type":"_level"}"#,
    ] {
        refused::<SetSessionConfigOptionRequest>(odd);
    }
}

#[test]
fn a_form_says_that_it_is_an_object() {
    let schema = ElicitationSchema::new().required_property("name", StringPropertySchema::new());
    let mode = ElicitationFormMode::new(SessionId::new("s"), schema);
    let request = CreateElicitationRequest::new("Who?", mode);
    let text = concat!(
        r#"{"message":"Who?","mode":"form","sessionId":"s","requestedSchema":"#,
        r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#,
    );
    assert_eq!(same::<CreateElicitationRequest>(text), request);
    refused::<ElicitationSchema>(r#"{"properties":{}}"#);
    refused::<ElicitationSchema>(r#"{"type":"array","properties":{}}"#);
    let voice: CreateElicitationRequest = same(r#"{"message":"Speak","mode":"_voice","requestId":5}"#);
    assert!(matches!(voice.mode, ElicitationMode::Unknown(_)));
}

#[test]
fn an_answer_may_hold_any_value() {
    let accepted = ElicitationAcceptAction::new()
        .value("age", 7)
        .value("warm", 36.5)
        .value("tags", vec!["a".to_owned()]);
    let text = r#"{"action":"accept","content":{"age":7,"tags":["a"],"warm":36.5}}"#;
    assert_eq!(same::<CreateElicitationResponse>(text), CreateElicitationResponse::accept(accepted));
    let answer: CreateElicitationResponse =
        same(r#"{"action":"accept","content":{"place":{"x":1},"tags":["a",1]}}"#);
    let ElicitationAction::Accept(accepted) = answer.action else { panic!("{answer:?}") };
    let content = accepted.content.expect("it has values");
    assert!(content.values().all(|value| matches!(value, ElicitationContentValue::Other(_))));
    let answer: CreateElicitationResponse = same(r#"{"action":"_later","when":1}"#);
    assert!(matches!(answer.action, ElicitationAction::Unknown(_)));
}

#[test]
fn data_of_an_error_goes_by_its_code() {
    let data = UnsupportedProtocolVersionErrorData::new(ProtocolVersion::V1, [ProtocolVersion::V2]);
    let error = ErrorObject::new(UNSUPPORTED_PROTOCOL_VERSION, "no").with_data(&data);
    assert_eq!(ErrorData::of(&error), Some(ErrorData::UnsupportedProtocolVersion(data)));
    let missing = SessionNotFoundErrorData::new("s");
    let error = ErrorObject::new(RESOURCE_NOT_FOUND, "no").with_data(&missing);
    assert_eq!(ErrorData::of(&error), Some(ErrorData::SessionNotFound(missing.clone())));
    let error = ErrorObject::new(-1, "no").with_data(&missing);
    assert_eq!(ErrorData::of(&error), Some(ErrorData::Other(json!({ "sessionId": "s" }).into())));
    assert_eq!(ErrorData::of(&ErrorObject::new(RESOURCE_NOT_FOUND, "no")), None);
    same::<ErrorData>(r#"{"requested":1,"supported":[2]}"#);
    assert_eq!(same::<ErrorData>(r#"{"sessionId":7}"#), ErrorData::Other(json!({ "sessionId": 7 }).into()));
}
