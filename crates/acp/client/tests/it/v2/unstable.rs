//! The draft of version 2 beyond its own stable set.

use agentwire_acp_schema::v2;
use agentwire_acp_schema::v2::unstable::{
    AuthStatusRequest, ForkSessionRequest, ListProvidersRequest, MessageMcpNotification, NewSessionRequest,
    SetSessionTitleRequest, SystemPrompt, SystemPromptAddition, SystemPromptMode,
};

use super::recorder::{Recorder, check_drafts, greeting};
use crate::recorder::refused;

#[tokio::test(start_paused = true)]
async fn drafts_are_asked_for_where_they_are_offered() {
    check_drafts("UNSTABLE-drafts", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let drafts = agent.drafts();
        for (error, capability) in [
            (refused(drafts.auth_status(AuthStatusRequest::new())).await, "auth.status"),
            (refused(drafts.set_session_title(SetSessionTitleRequest::new("s", "t"))).await, "session.title"),
            (
                refused(drafts.mcp_message(MessageMcpNotification::new("1", "2", "m"))).await,
                "session.mcp.acp",
            ),
        ] {
            assert!(error.ends_with(&format!("the capability {capability}")), "{error}");
        }
        drafts.list_providers(ListProvidersRequest::new()).await?;
        let prompt = SystemPrompt::new(SystemPromptMode::Append, ["French.".into()]);
        let added = SystemPromptAddition::new().system_prompt(prompt);
        drafts.new_session(NewSessionRequest::new(v2::NewSessionRequest::new("/repo"), added)).await?;
        let forked = drafts.fork_session(ForkSessionRequest::new("session-1", "/repo")).await?;
        let option = v2::SetSessionConfigOptionRequest::new(forked.session_id, "nope", true);
        let error = refused(agent.set_session_config_option(option)).await;
        assert!(error.contains("did not offer the option"), "{error}");
        Ok(())
    })
    .await
    .unwrap();
}
