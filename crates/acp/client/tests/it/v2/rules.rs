//! The requests that a client must not send in version 2.

use agentwire_acp_schema::v2::*;

use super::recorder::{Recorder, greeting};
use crate::check_v2;
use crate::recorder::refused;

fn stdio() -> McpServer {
    McpServerStdio::new("s", "/bin/s").into()
}

fn http() -> McpServer {
    McpServerHttp::new("h", "https://h.test").into()
}

fn with(server: McpServer) -> NewSessionRequest {
    NewSessionRequest::new("/repo").mcp_servers([server])
}

fn prompt(block: impl Into<ContentBlock>) -> PromptRequest {
    PromptRequest::new("s", block.into())
}

/// The agent has sessions and nothing else: no MCP server goes without saying.
#[tokio::test(start_paused = true)]
async fn request_that_the_agent_lacks_is_refused_here() {
    check_v2!("RULES-what-the-agent-lacks", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let resource = TextResourceContents::new("t", "file:///a");
        let lacking = [
            (refused(agent.delete_session(DeleteSessionRequest::new("s"))).await, "session/delete", "delete"),
            (refused(agent.new_session(with(stdio()))).await, "session/new", "mcp.stdio"),
            (refused(agent.new_session(with(http()))).await, "session/new", "mcp.http"),
            (
                refused(
                    agent.resume_session(ResumeSessionRequest::new("s", "/").additional_directories(["/a"])),
                )
                .await,
                "session/resume",
                "additionalDirectories",
            ),
            (
                refused(agent.prompt(prompt(ImageContent::new("AAAA", "image/png")))).await,
                "session/prompt",
                "prompt.image",
            ),
            (
                refused(agent.prompt(prompt(AudioContent::new("AAAA", "audio/wav")))).await,
                "session/prompt",
                "prompt.audio",
            ),
            (
                refused(agent.prompt(prompt(EmbeddedResource::new(resource)))).await,
                "session/prompt",
                "prompt.embeddedContext",
            ),
        ];
        for (error, method, capability) in lacking {
            assert_eq!(
                error,
                format!("{method}: the agent did not advertise the capability session.{capability}")
            );
        }
        let error = refused(agent.login(LoginAuthRequest::new("key"))).await;
        assert_eq!(error, "auth/login: the agent offers no way to authenticate");
        let error = refused(agent.logout(LogoutAuthRequest::new())).await;
        assert_eq!(error, "auth/logout: the agent offers no way to authenticate");
        let error = refused(agent.list_sessions(ListSessionsRequest::new().cwd("repo"))).await;
        assert_eq!(error, "session/list: paths are absolute, and \"repo\" is not");
        agent.new_session(NewSessionRequest::new("/repo")).await?;
        Ok(())
    })
    .unwrap();
}

/// An agent without sessions.
#[tokio::test(start_paused = true)]
async fn an_agent_without_sessions() {
    check_v2!("RULES-no-sessions", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        for error in [
            refused(agent.new_session(NewSessionRequest::new("/repo"))).await,
            refused(agent.resume_session(ResumeSessionRequest::new("s", "/repo"))).await,
            refused(agent.list_sessions(ListSessionsRequest::new())).await,
            refused(agent.close_session(CloseSessionRequest::new("s"))).await,
            refused(agent.delete_session(DeleteSessionRequest::new("s"))).await,
            refused(agent.prompt(PromptRequest::new("s", "hello"))).await,
            refused(agent.cancel(CancelSessionNotification::new("s"))).await,
        ] {
            assert!(error.ends_with(": the agent did not advertise the capability session"), "{error}");
        }
        Ok(())
    })
    .unwrap();
}

/// An offered request is sent, and the rest still is not.
#[tokio::test(start_paused = true)]
async fn request_that_the_agent_offers_is_sent() {
    check_v2!("RULES-what-the-agent-offers", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        for (method, why) in [
            ("terminal", "a method that is not of type \"agent\" is used outside of the protocol"),
            ("nope", "the agent did not offer that method"),
        ] {
            assert_eq!(
                refused(agent.login(LoginAuthRequest::new(method))).await,
                format!("auth/login: {why}")
            );
        }
        agent.login(LoginAuthRequest::new("key")).await?;
        let relative = McpServerStdio::new("s", "server");
        let error = refused(agent.new_session(with(relative.into()))).await;
        assert_eq!(error, "session/new: paths are absolute, and \"server\" is not");
        agent.new_session(with(stdio()).additional_directories(["/a"])).await?;
        agent.new_session(with(http())).await?;
        agent.delete_session(DeleteSessionRequest::new("s")).await?;
        agent.logout(LogoutAuthRequest::new()).await?;
        Ok(())
    })
    .unwrap();
}

/// CFG-05 in version 2; and what can be cancelled, as long as it can.
#[tokio::test(start_paused = true)]
async fn options_and_what_can_be_cancelled() {
    let client = Recorder::default();
    check_v2!("RULES-options-and-cancelling", &client, async |agent| {
        agent.initialize(greeting()).await?;
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?.session_id;
        let set = |option: &str, value: SessionConfigOptionValue| {
            agent.set_session_config_option(SetSessionConfigOptionRequest::new(&session, option, value))
        };
        assert!(refused(set("model", "huge".into())).await.ends_with(r#"did not offer the value "huge""#));
        assert!(refused(set("nope", true.into())).await.ends_with(r#"did not offer the option "nope""#));
        set("model", "small".into()).await?;
        let call = || agent.cancel_tool_call(CancelToolCallRequest::new(&session, "c"));
        let terminal = || agent.cancel_terminal(CancelTerminalRequest::new(&session, "t"));
        client.until(2).await;
        call().await?;
        terminal().await?;
        client.until(5).await;
        // The call has taken its word back, and the terminal has ended.
        assert!(refused(call()).await.ends_with(r#"the tool call "c" cannot be cancelled now"#));
        assert!(refused(terminal()).await.ends_with(r#"the terminal "t" cannot be cancelled now"#));
        let never = agent.cancel_tool_call(CancelToolCallRequest::new(&session, "d"));
        assert!(refused(never).await.ends_with(r#"the tool call "d" cannot be cancelled now"#));
        Ok(())
    })
    .unwrap();
}
