//! The additions of drafts.

use agentwire_acp_schema::v1::unstable::{
    AuthState, IdleStateUpdate, IdleStopReason, ListSessionsRequest, McpCapabilitiesAdditions, McpError,
    McpServer, McpServerAcp, MessageMcpRequest, MessageMcpResponse, NewSessionRequest, PlanMarkdown,
    PlanRemoved, PlanUpdate, PromptRequest, PromptResponse, ProxySuccessorRequest, ProxySuccessorResponse,
    SessionArchiveFilter, SessionCapabilitiesAdditions, SessionForkCapabilities, SessionTitleCapabilities,
    SessionUpdate, StateUpdate, SubagentUpdate, SystemPromptMode, Usage,
};
use agentwire_acp_schema::v1::{self, Patch, SessionNotification, StopReason};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestMethod};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

fn refuses<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_err()
}

/// Reads the text, also by way of a `Value`, and writes it again.
#[track_caller]
fn stays<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value: T = read(text);
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    let by_value: T = serde_json::from_value(serde_json::from_str(text).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(by_value).unwrap(), serde_json::to_value(&value).unwrap());
    value
}

#[test]
fn params_and_their_additions_are_one_object() {
    let prompt = r#"{"mode":"override","content":[{"type":"text","text":"t"}]}"#;
    let request: NewSessionRequest =
        stays(&format!(r#"{{"cwd":"/repo","mcpServers":[],"systemPrompt":{prompt}}}"#));
    assert_eq!(request.cwd.to_str(), Some("/repo"));
    assert_eq!(request.added.system_prompt.unwrap().mode, SystemPromptMode::Override);
    // The tag of the union inside may come last.
    let late = r#"{"systemPrompt":{"content":[{"text":"t","type":"text"}],"mode":"append"},"mcpServers":[],"cwd":"/"}"#;
    assert!(read::<NewSessionRequest>(late).added.system_prompt.is_some());

    // An instruction that cannot be read must not be passed over, and nor must a fault in the other half.
    assert!(refuses::<NewSessionRequest>(r#"{"cwd":"/","mcpServers":[],"systemPrompt":7}"#));
    assert!(refuses::<NewSessionRequest>(r#"{"mcpServers":[],"systemPrompt":null}"#));

    let list: ListSessionsRequest = stays(r#"{"cursor":"c","archived":"_mine"}"#);
    assert_eq!(list.added.archived, Some(SessionArchiveFilter::Other("_mine".into())));
    let page: <ListSessionsRequest as RequestMethod>::Response =
        stays(r#"{"sessions":[{"sessionId":"s","cwd":"/","archived":true}]}"#);
    assert_eq!(page.sessions[0].added.archived, Some(true));
}

#[test]
fn a_prompt_is_answered_with_its_usage() {
    let request = PromptRequest::from(v1::PromptRequest::new("s", "Hi"));
    assert_eq!((PromptRequest::NAME, &*request.session_id), ("session/prompt", "s"));
    stays::<PromptRequest>(&serde_json::to_string(&request).unwrap());

    let mut answer = PromptResponse::from(v1::PromptResponse::new(StopReason::EndTurn));
    answer.added.usage = Some(Usage::new(2, 1).thought_tokens(1));
    let text = serde_json::to_string(&answer).unwrap();
    assert_eq!(
        text,
        r#"{"stopReason":"end_turn","usage":{"totalTokens":3,"inputTokens":2,"outputTokens":1,"thoughtTokens":1}}"#
    );
    assert_eq!(stays::<<PromptRequest as RequestMethod>::Response>(&text), answer);
    assert_eq!(read::<v1::PromptResponse>(&text), answer.stable);
    assert_eq!(read::<PromptResponse>(r#"{"stopReason":"end_turn","usage":{}}"#).added.usage, None);
}

#[test]
fn an_added_update_passes_through_version_1() {
    for text in [
        r#"{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"1. Do it"}}"#,
        r#"{"sessionUpdate":"plan_removed","planId":"p"}"#,
        r#"{"sessionUpdate":"subagent_update","sessionId":"c","state":{"state":"running"},"cwd":"/c"}"#,
        r#"{"sessionUpdate":"session_message","messageId":"m","senderSessionId":"c","content":null}"#,
        r#"{"sessionUpdate":"session_message_chunk","messageId":"m","content":{"type":"text","text":"t"}}"#,
    ] {
        let update: SessionUpdate = stays(text);
        assert!(!matches!(update, SessionUpdate::Stable(_)), "{text}");
        let plain = v1::SessionUpdate::try_from(update.clone()).unwrap();
        let heard: SessionNotification =
            read(&serde_json::to_string(&SessionNotification::new("s", plain)).unwrap());
        assert!(matches!(heard.update, v1::SessionUpdate::Unknown(_)));
        assert_eq!(SessionUpdate::from(heard.update), update);
    }

    // What is not an addition goes through as it is, also when its tag comes last.
    let plan: SessionUpdate = read(r#"{"entries":[],"sessionUpdate":"plan"}"#);
    let SessionUpdate::Stable(stable @ v1::SessionUpdate::Plan(_)) = plan.clone() else { panic!("{plan:?}") };
    assert_eq!(v1::SessionUpdate::try_from(plan).unwrap(), stable);
}

#[test]
fn a_malformed_addition_is_refused_where_it_is_known_and_kept_where_it_is_not() {
    let text = r#"{"sessionUpdate":"plan_removed","planId":7}"#;
    assert!(refuses::<SessionUpdate>(text));
    let kept = SessionUpdate::from(stays::<v1::SessionUpdate>(text));
    assert!(matches!(&kept, SessionUpdate::Stable(v1::SessionUpdate::Unknown(_))));
    assert_eq!(serde_json::to_string(&kept).unwrap(), text);
}

#[test]
fn a_server_on_the_connection_is_one_of_the_servers() {
    let server = McpServer::from(McpServerAcp::new("files", "server-1"));
    let request =
        v1::NewSessionRequest::new("/").mcp_servers([v1::McpServer::try_from(server.clone()).unwrap()]);
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(text, r#"{"cwd":"/","mcpServers":[{"type":"acp","name":"files","serverId":"server-1"}]}"#);
    let heard: v1::NewSessionRequest = read(&text);
    assert_eq!(heard.mcp_servers[0].name().as_deref(), Some("files"));
    assert_eq!(McpServer::from(heard.mcp_servers[0].clone()), server);
    // A program on stdio has no tag.
    let program: McpServer = stays(r#"{"name":"n","command":"/bin/n","args":[],"env":[]}"#);
    assert!(matches!(program, McpServer::Stable(v1::McpServer::Stdio(_))));
}

#[test]
fn capabilities_are_seen_through_what_was_not_known() {
    let text = r#"{"list":{},"archive":true,"fork":{"deep":1},"sing":{}}"#;
    let mut capabilities: v1::SessionCapabilities = read(text);
    let mut added = SessionCapabilitiesAdditions::of(&capabilities.extra);
    assert_eq!(added.fork.as_ref().map(|fork| fork.extra.contains_key("deep")), Some(true));
    assert_eq!(added.archive, None);

    added.fork = None;
    added = added.title(SessionTitleCapabilities::new());
    added.put(&mut capabilities.extra);
    assert_eq!(serde_json::to_value(&capabilities).unwrap(), json!({ "list": {}, "title": {}, "sing": {} }));

    let mut mcp = v1::McpCapabilities::new();
    assert!(!McpCapabilitiesAdditions::of(&mcp.extra).acp);
    McpCapabilitiesAdditions::new().acp(true).put(&mut mcp.extra);
    assert_eq!(serde_json::to_string(&mcp).unwrap(), r#"{"http":false,"sse":false,"acp":true}"#);
    assert!(McpCapabilitiesAdditions::of(&mcp.extra).acp);
    let added = SessionCapabilitiesAdditions::new().fork(SessionForkCapabilities::new());
    assert_eq!(serde_json::to_value(added).unwrap(), json!({ "fork": {} }));
}

#[test]
fn tunnelled_message_stays_as_it_is() {
    let call: MessageMcpRequest =
        stays(r#"{"serverId":"s","requestId":"r","method":"tools/call","params":{"n":1.00,"n":1e2}}"#);
    assert_eq!(call.params.unwrap().as_str(), r#"{"n":1.00,"n":1e2}"#);
    assert!(refuses::<MessageMcpRequest>(r#"{"serverId":"s","requestId":"r","method":"m","params":[1]}"#));
    let empty: MessageMcpRequest = read(r#"{"serverId":"s","requestId":"r","method":"m","params":[]}"#);
    assert_eq!(empty.params.unwrap().as_str(), "{}");
    assert_eq!(
        read::<MessageMcpRequest>(r#"{"serverId":"s","requestId":"r","method":"m","params":null}"#).params,
        None
    );

    let one: ProxySuccessorRequest = stays(r#"{"method":"session/new","params":{"_meta":{"b":1,"a":2.0}}}"#);
    assert_eq!(one.params.unwrap().as_str(), r#"{"_meta":{"b":1,"a":2.0}}"#);
    for result in ["null", "[1.0]", r#"{"z":1,"a":2}"#] {
        assert_eq!(stays::<ProxySuccessorResponse>(result).0.as_str(), result);
    }
}

#[test]
fn an_inner_outcome_is_a_result_or_an_error() {
    assert_eq!(stays::<MessageMcpResponse>(r#"{"result":null}"#), RawJson::NULL.into());
    assert_eq!(
        stays::<MessageMcpResponse>(r#"{"result":[1.0]}"#),
        RawJson::parse("[1.0]".into()).unwrap().into()
    );
    let MessageMcpResponse::Error { error, meta } =
        stays(r#"{"error":{"code":-32601,"message":"no","data":null,"hint":"h"},"_meta":{}}"#)
    else {
        panic!("no error")
    };
    assert_eq!(
        (error.data, error.extra.contains_key("hint"), meta.is_some()),
        (Some(RawJson::NULL), true, true)
    );
    assert_eq!(
        stays::<MessageMcpResponse>(r#"{"error":{"code":1,"message":"no"}}"#),
        McpError::new(1, "no").into()
    );
    // Both: the result counts, whatever the error is.
    assert_eq!(read::<MessageMcpResponse>(r#"{"error":7,"result":null}"#), RawJson::NULL.into());
    for text in ["{}", r#"{"error":null}"#, r#"{"error":{"code":1}}"#, "[]"] {
        assert!(refuses::<MessageMcpResponse>(text), "{text}");
    }
}

#[test]
fn a_subagent_is_patched() {
    let update: SubagentUpdate = stays(
        r#"{"sessionId":"c","title":null,"state":{"state":"idle","stopReason":"error","error":{"code":1,"message":"m"}},"cwd":null,"additionalDirectories":[]}"#,
    );
    assert_eq!(
        (&update.title, &update.description, &update.cwd),
        (&Patch::Clear, &Patch::Keep, &Patch::Clear)
    );
    assert_eq!(update.additional_directories, Patch::Set(Vec::new()));
    let Patch::Set(StateUpdate::Idle(idle)) = update.state else { panic!("{:?}", update.state) };
    assert_eq!(idle, IdleStateUpdate::new().stop_reason(IdleStopReason::from(ErrorObject::new(1, "m"))));

    // A malformed title changes nothing; a malformed path would move the child.
    assert_eq!(read::<SubagentUpdate>(r#"{"sessionId":"c","title":7}"#).title, Patch::Keep);
    assert!(refuses::<SubagentUpdate>(r#"{"sessionId":"c","cwd":7}"#));

    // What belongs to a foreign reason is kept with it, once.
    stays::<StateUpdate>(
        r#"{"state":"idle","stopReason":"_bored","why":1,"usage":{"totalTokens":3,"inputTokens":2,"outputTokens":1}}"#,
    );
    assert!(matches!(stays(r#"{"state":"unknown"}"#), StateUpdate::CannotTell(_)));
    assert!(matches!(stays(r#"{"state":"_asleep","since":1}"#), StateUpdate::Unknown(_)));
    assert_eq!(AuthState::from("unknown"), AuthState::Unknown);
}

#[test]
fn plans_have_ids() {
    let update = SessionUpdate::from(PlanUpdate::new(PlanMarkdown::new("p", "1. Do it")));
    assert_eq!(
        serde_json::to_value(update).unwrap(),
        json!({ "sessionUpdate": "plan_update", "plan": { "type": "markdown", "planId": "p", "content": "1. Do it" } })
    );
    assert_eq!(
        SessionUpdate::from(PlanRemoved::new("p")),
        read(r#"{"sessionUpdate":"plan_removed","planId":"p"}"#)
    );
}

#[cfg(feature = "v2")]
mod v2 {
    use agentwire_acp_schema::v2::unstable::{
        BackgroundWork, PlanUpdateContent, SessionStatusResponse, SessionUpdate, StateUpdate,
        UpdateSessionNotification,
    };
    use agentwire_acp_schema::v2::{self, IdleStopReason};

    use super::{read, refuses, stays};

    #[test]
    fn idle_tells_its_usage() {
        let text = r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"_bored","why":1,"background":[],"usage":{"totalTokens":1,"inputTokens":1,"outputTokens":0}}}"#;
        let heard: UpdateSessionNotification = stays(text);
        let SessionUpdate::StateUpdate(state) = &heard.update else { panic!("{heard:?}") };
        let StateUpdate::Idle(idle) = &**state else { panic!("{state:?}") };
        assert_eq!(idle.added.usage.as_ref().map(|usage| usage.total_tokens), Some(1));
        assert_eq!(idle.stop_reason.as_ref().map(IdleStopReason::word).as_deref(), Some("_bored"));

        // Without the drafts the usage is left out; with them, the update that was read without is the same.
        let plain: v2::UpdateSessionNotification = read(text);
        let SessionUpdate::StateUpdate(again) = SessionUpdate::from(plain.update) else {
            panic!("another update")
        };
        let StateUpdate::Idle(again) = *again else { panic!("another state") };
        assert_eq!((&again.stable, again.added.usage), (&idle.stable, None));
    }

    #[test]
    fn unknown_value_of_a_version_is_looked_at_again() {
        let plan: v2::PlanUpdateContent = stays(r#"{"type":"file","planId":"p","uri":"file:///p.md"}"#);
        assert!(matches!(PlanUpdateContent::from(plan), PlanUpdateContent::File(_)));
        assert!(refuses::<PlanUpdateContent>(r#"{"type":"_song"}"#), "also a foreign plan has an id");
        let work: v2::BackgroundWork = stays(r#"{"type":"subagent","sessionId":"c"}"#);
        let BackgroundWork::Subagent(subagent) = work.into() else { panic!("another type") };
        assert_eq!(&*subagent.session_id, "c");
        let status: SessionStatusResponse =
            stays(r#"{"status":"open","state":{"state":"unknown","background":[]}}"#);
        let Some(StateUpdate::CannotTell(unknown)) = status.state else { panic!("another state") };
        assert_eq!(unknown.background, Some(Vec::new()));
    }
}
