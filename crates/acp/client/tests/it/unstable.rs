//! The additions of drafts to version 1.

use agentwire_acp_client::unstable::{auth_status_update, mcp_message};
use agentwire_acp_schema::v1::unstable::{
    ArchiveFilterAddition, ArchiveSessionRequest, AuthState, AuthStatusRequest, DisableProviderRequest,
    ForkSessionRequest, ListProvidersRequest, ListSessionsRequest, LlmProtocol, LoadSessionRequest,
    McpServerAcp, MessageMcpNotification, NewSessionRequest, PromptRequest, ResumeSessionRequest,
    SessionArchiveFilter, SessionStatus, SessionStatusRequest, SetProviderRequest, SetSessionTitleRequest,
    SystemPrompt, SystemPromptAddition, SystemPromptMode, UnarchiveSessionRequest, Unchanged,
};
use agentwire_acp_schema::v1::{self, SetSessionModeRequest};
use agentwire_jsonrpc::RawJson;

use crate::recorder::{Recorder, check_drafts, greeting, refused};

fn french() -> SystemPromptAddition {
    SystemPromptAddition::new().system_prompt(SystemPrompt::new(SystemPromptMode::Append, ["French.".into()]))
}

fn archived() -> ListSessionsRequest {
    let only = ArchiveFilterAddition::new().archived(SessionArchiveFilter::Only);
    ListSessionsRequest::new(v1::ListSessionsRequest::new(), only)
}

fn said() -> MessageMcpNotification {
    MessageMcpNotification::new("server", "request", "notifications/progress")
}

#[tokio::test(start_paused = true)]
async fn request_that_the_agent_lacks_is_refused_here() {
    check_drafts("UNSTABLE-what-the-agent-lacks", &Recorder::default(), async |agent| {
        let drafts = agent.drafts();
        let error = refused(drafts.auth_status(AuthStatusRequest::new())).await;
        assert!(error.contains("initialize must be called"), "{error}");
        agent.initialize(greeting()).await?;
        let new = v1::NewSessionRequest::new("/repo");
        let fork = ForkSessionRequest::new("s", "/repo");
        for (error, capability) in [
            (refused(drafts.auth_status(AuthStatusRequest::new())).await, "auth.status"),
            (refused(drafts.list_providers(ListProvidersRequest::new())).await, "providers"),
            (refused(drafts.disable_provider(DisableProviderRequest::new("p"))).await, "providers"),
            (refused(drafts.fork_session(fork)).await, "sessionCapabilities.fork"),
            (
                refused(drafts.archive_session(ArchiveSessionRequest::new("s"))).await,
                "sessionCapabilities.archive",
            ),
            (
                refused(drafts.set_session_title(SetSessionTitleRequest::new("s", "t"))).await,
                "sessionCapabilities.title",
            ),
            (
                refused(drafts.session_status(SessionStatusRequest::new("s"))).await,
                "sessionCapabilities.status",
            ),
            (refused(drafts.list_sessions(archived())).await, "sessionCapabilities.archive"),
            (
                refused(drafts.new_session(NewSessionRequest::new(new.clone(), french()))).await,
                "sessionCapabilities.systemPrompt",
            ),
            (refused(drafts.mcp_message(said())).await, "mcpCapabilities.acp"),
        ] {
            let why = format!(": the agent did not advertise the capability {capability}");
            assert!(error.ends_with(&why), "{error}");
        }
        // What adds nothing is what the version has.
        drafts.new_session(new.into()).await?;
        Ok(())
    })
    .await
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn request_that_the_agent_offers_is_sent() {
    check_drafts("UNSTABLE-what-the-agent-offers", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let drafts = agent.drafts();
        let status = drafts.auth_status(AuthStatusRequest::new()).await?;
        assert_eq!(status.state, AuthState::Authenticated);
        drafts.list_providers(ListProvidersRequest::new()).await?;
        let provider = SetProviderRequest::new("p", LlmProtocol::Openai, "https://p.test");
        drafts.set_provider(provider).await?;
        drafts.disable_provider(DisableProviderRequest::new("p")).await?;
        drafts.new_session(NewSessionRequest::new(v1::NewSessionRequest::new("/repo"), french())).await?;
        let load = v1::LoadSessionRequest::new("old", "/repo");
        drafts.load_session(LoadSessionRequest::new(load, french())).await?;
        let resume = v1::ResumeSessionRequest::new("old", "/repo");
        drafts.resume_session(ResumeSessionRequest::new(resume, french())).await?;
        let servers = [McpServerAcp::new("a", "1")];
        let forked =
            drafts.fork_session(ForkSessionRequest::new("old", "/repo").mcp_servers(servers)).await?;
        // A forked session is set up like any other.
        let other =
            refused(agent.set_session_mode(SetSessionModeRequest::new(&forked.session_id, "slow"))).await;
        assert!(other.contains("did not offer"), "{other}");
        agent.set_session_mode(SetSessionModeRequest::new(&forked.session_id, "fast")).await?;
        assert_eq!(drafts.list_sessions(archived()).await?.sessions.len(), 1);
        drafts.archive_session(ArchiveSessionRequest::new("old")).await?;
        drafts.unarchive_session(UnarchiveSessionRequest::new("old")).await?;
        drafts.set_session_title(SetSessionTitleRequest::new("old", "Title")).await?;
        let status = drafts.session_status(SessionStatusRequest::new("old")).await?;
        assert_eq!(status.status, SessionStatus::Saved);
        let prompt = v1::PromptRequest::new("old", "go");
        let turn = drafts.prompt(PromptRequest::new(prompt, Unchanged::new())).await?;
        assert_eq!(turn.stable.stop_reason, v1::StopReason::EndTurn);
        assert_eq!(turn.added.usage.unwrap().total_tokens, 3);
        drafts.mcp_message(said()).await?;
        Ok(())
    })
    .await
    .unwrap();
}

/// Messages that come to the client as unknown to the version.
#[test]
fn messages_beyond_the_version() {
    let raw = |text: &str| RawJson::parse(text.to_owned().into()).unwrap();
    let update = raw(r#"{"state":"unauthenticated"}"#);
    let read = auth_status_update("auth/status_update", Some(&update)).unwrap();
    assert_eq!(read.state, AuthState::Unauthenticated);
    assert!(auth_status_update("_auth/status_update", Some(&update)).is_none());
    assert!(auth_status_update("auth/status_update", None).is_none());
    let message = raw(r#"{"serverId":"1","requestId":"2","method":"tools/list"}"#);
    let read = mcp_message("mcp/message", Some(&message)).unwrap().unwrap();
    assert_eq!(read.method, "tools/list");
    assert_eq!(mcp_message("mcp/message", Some(&update)).unwrap().unwrap_err().code, -32602);
    assert!(mcp_message("mcp/other", Some(&message)).is_none());
}
