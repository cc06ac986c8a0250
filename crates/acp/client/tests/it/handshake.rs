//! The handshake, and its agreement.

use agentwire_acp_schema::v1::*;

use crate::check;
use crate::recorder::{Recorder, begin, greeting, refused};

/// INIT-02, INIT-04, INIT-14, SES-01, PR-01.
#[tokio::test(start_paused = true)]
async fn init_01_initialize_comes_first() {
    check!("INIT-01-initialize-first", &Recorder::default(), async |agent| {
        assert!(agent.initialize_response().is_none() && agent.capabilities().is_none());
        for error in [
            refused(agent.new_session(NewSessionRequest::new("/repo"))).await,
            refused(agent.prompt(PromptRequest::new("s", "hello"))).await,
            refused(agent.authenticate(AuthenticateRequest::new("a"))).await,
            refused(agent.set_session_mode(SetSessionModeRequest::new("s", "fast"))).await,
            refused(agent.extension_request::<_, ()>("_x", &())).await,
            refused(agent.extension_notification("_x", &())).await,
            refused(agent.cancel(CancelNotification::new("s"))).await,
        ] {
            assert!(error.ends_with(": initialize must be called, and have succeeded, first"), "{error}");
        }
        // A value that is not awaited is not a call.
        drop(agent.initialize(greeting()));
        let client = Implementation::new("editor", "1.0.0").title("Editor");
        let capabilities = ClientCapabilities::new()
            .fs(FileSystemCapabilities::new().read_text_file(true).write_text_file(true))
            .terminal(true);
        let answer =
            agent.initialize(greeting().client_info(client).client_capabilities(capabilities)).await?;
        assert_eq!(answer.protocol_version, ProtocolVersion::V1);
        assert_eq!(agent.info().unwrap().name, "raw");
        assert!(agent.capabilities().unwrap().load_session);
        assert_eq!(agent.initialize_response(), Some(&answer));
        let error = refused(agent.initialize(greeting())).await;
        assert_eq!(error, "initialize: this connection has been initialized already");
        Ok(())
    })
    .unwrap();
}

/// INIT-08: nothing else is sent, and the error has the fault.
#[tokio::test(start_paused = true)]
async fn init_08_a_version_that_we_do_not_speak() {
    let error = check!("INIT-08-unsupported-version", &Recorder::default(), async |agent| {
        let error = agent.initialize(greeting()).await.unwrap_err();
        assert!(agent.initialize_response().is_none());
        let later = refused(agent.new_session(NewSessionRequest::new("/repo"))).await;
        assert!(later.contains("have succeeded"), "{later}");
        Err::<(), _>(error.into())
    })
    .unwrap_err();
    assert!(error.to_string().contains("version 99") && error.to_string().contains("version 1"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_initialize_that_failed_may_be_tried_again() {
    check!("INIT-01-again-after-an-error", &Recorder::default(), async |agent| {
        let error = agent.initialize(greeting()).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, -32603);
        begin(&agent).await?;
        Ok(())
    })
    .unwrap();
}

/// The agent offers nothing: only what needs no capability is sent. RPC-13, AUTH-01, SES-03, SES-05, SES-10, SES-13, SES-16,
/// SES-17, SES-23, LIST-01, DEL-01, PR-02.
#[tokio::test(start_paused = true)]
async fn init_12_what_the_agent_lacks_is_refused_here() {
    check!("INIT-12-what-the-agent-lacks", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let lacking = [
            (refused(agent.logout(LogoutRequest::new())).await, "logout", "auth.logout"),
            (
                refused(agent.load_session(LoadSessionRequest::new("s", "/"))).await,
                "session/load",
                "loadSession",
            ),
            (
                refused(agent.resume_session(ResumeSessionRequest::new("s", "/"))).await,
                "session/resume",
                "sessionCapabilities.resume",
            ),
            (
                refused(agent.list_sessions(ListSessionsRequest::new())).await,
                "session/list",
                "sessionCapabilities.list",
            ),
            (
                refused(agent.close_session(CloseSessionRequest::new("s"))).await,
                "session/close",
                "sessionCapabilities.close",
            ),
            (
                refused(agent.delete_session(DeleteSessionRequest::new("s"))).await,
                "session/delete",
                "sessionCapabilities.delete",
            ),
            (
                refused(agent.new_session(NewSessionRequest::new("/").additional_directories(["/a"]))).await,
                "session/new",
                "sessionCapabilities.additionalDirectories",
            ),
            (refused(agent.new_session(with(http()))).await, "session/new", "mcpCapabilities.http"),
            (refused(agent.new_session(with(sse()))).await, "session/new", "mcpCapabilities.sse"),
            (refused(agent.prompt(image())).await, "session/prompt", "promptCapabilities.image"),
            (refused(agent.prompt(audio())).await, "session/prompt", "promptCapabilities.audio"),
            (refused(agent.prompt(resource())).await, "session/prompt", "promptCapabilities.embeddedContext"),
        ];
        for (error, method, capability) in lacking {
            assert_eq!(error, format!("{method}: the agent did not advertise the capability {capability}"));
        }
        for cwd in ["repo", "", "./repo", "c:repo"] {
            let error = refused(agent.new_session(NewSessionRequest::new(cwd))).await;
            assert_eq!(error, format!("session/new: paths are absolute, and {cwd:?} is not"));
        }
        let error = refused(agent.new_session(NewSessionRequest::new("/repo\0"))).await;
        assert_eq!(error, r#"session/new: paths hold no NUL, and "/repo\0" does"#);
        let stdio = McpServerStdio::new("s", "/bin/s");
        agent.new_session(NewSessionRequest::new("/repo").mcp_servers([stdio])).await?;
        // The agent may run on a system of another kind.
        agent.new_session(NewSessionRequest::new("C:\\repo")).await?;
        let link = ResourceLink::new("a", "file:///a");
        agent.prompt(PromptRequest::new("session-1", ["hello".into(), link.into()])).await?;
        Ok(())
    })
    .unwrap();
}

/// The agent offers everything: all of it is sent, with the members that it must have (INIT-13, SES-06, SES-11, SES-16,
/// LIST-07).
#[tokio::test(start_paused = true)]
async fn init_12_what_the_agent_offers_is_sent() {
    check!("INIT-12-what-the-agent-offers", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        agent.new_session(with(http()).additional_directories(["/a"])).await?;
        let error =
            refused(agent.new_session(NewSessionRequest::new("/").additional_directories(["/a", "b"]))).await;
        assert_eq!(error, "session/new: paths are absolute, and \"b\" is not");
        agent.load_session(LoadSessionRequest::new("old", "/repo").mcp_servers([sse()])).await?;
        agent
            .resume_session(ResumeSessionRequest::new("old", "/repo").additional_directories(["/a"]))
            .await?;
        let page = agent.list_sessions(ListSessionsRequest::new().cwd("/repo")).await?;
        let next = ListSessionsRequest::new().cursor(page.next_cursor.unwrap());
        assert_eq!(agent.list_sessions(next).await?.next_cursor, None);
        let error = refused(agent.list_sessions(ListSessionsRequest::new().cwd("repo"))).await;
        assert!(error.ends_with("\"repo\" is not"), "{error}");
        for prompt in [image(), audio(), resource()] {
            agent.prompt(prompt).await?;
        }
        agent.set_session_config_option(SetSessionConfigOptionRequest::new("s", "web", true)).await?;
        agent.close_session(CloseSessionRequest::new("s")).await?;
        agent.delete_session(DeleteSessionRequest::new("s")).await?;
        agent.logout(LogoutRequest::new()).await?;
        Ok(())
    })
    .unwrap();
}

/// AUTH-03: a terminal method is never passed to `authenticate`. AUTH-12: no type means `agent`.
#[tokio::test(start_paused = true)]
async fn auth_03_and_12_only_methods_of_the_agent() {
    check!("AUTH-03-methods", &Recorder::default(), async |agent| {
        let terminal = ClientCapabilities::new().auth(AuthCapabilities::new().terminal(true));
        agent.initialize(greeting().client_capabilities(terminal)).await?;
        for (method, why) in [
            ("terminal", "a method that is not of type \"agent\" is used outside of the protocol"),
            ("key", "a method that is not of type \"agent\" is used outside of the protocol"),
            ("nope", "the agent did not offer that method"),
        ] {
            let error = refused(agent.authenticate(AuthenticateRequest::new(method))).await;
            assert_eq!(error, format!("authenticate: {why}"));
        }
        agent.authenticate(AuthenticateRequest::new("untyped")).await?;
        agent.authenticate(AuthenticateRequest::new("typed")).await?;
        // What the agent wants first is the user's to decide.
        let error = agent.new_session(NewSessionRequest::new("/repo")).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, error_code::AUTH_REQUIRED);
        Ok(())
    })
    .unwrap();
}

/// RPC-15: `_meta` goes out and comes in as it is, everywhere.
#[tokio::test(start_paused = true)]
async fn rpc_15_meta_is_kept() {
    let odd = r#"{"traceparent":"00-a-b-01","list":[1,{"deep":null}],"":-0.5}"#;
    let meta = || agentwire_jsonrpc::read::<Meta>(odd).unwrap();
    check!("RPC-15-meta", &Recorder::default(), async |agent| {
        let answer = agent
            .initialize(greeting().meta(meta()).client_capabilities(ClientCapabilities::new().meta(meta())))
            .await?;
        assert_eq!(answer.meta, Some(meta()));
        assert_eq!(agent.capabilities().unwrap().meta, Some(meta()));
        assert_eq!(
            agent.capabilities().unwrap().extra.as_str(),
            r#"{"title":{}}"#,
            "unknown capabilities, too"
        );
        let session = agent.new_session(NewSessionRequest::new("/repo").meta(meta())).await?;
        assert_eq!(session.meta, Some(meta()));
        let block = TextContent::new("hello").meta(meta());
        let turn = agent.prompt(PromptRequest::new("s", ContentBlock::from(block)).meta(meta())).await?;
        assert_eq!(turn.meta, Some(meta()));
        agent.cancel(CancelNotification::new("s").meta(meta())).await?;
        Ok(())
    })
    .unwrap();
}

fn with(server: impl Into<McpServer>) -> NewSessionRequest {
    NewSessionRequest::new("/repo").mcp_servers([server])
}

fn http() -> McpServerHttp {
    McpServerHttp::new("h", "https://h.test")
}

fn sse() -> McpServerSse {
    McpServerSse::new("e", "https://e.test")
}

fn image() -> PromptRequest {
    PromptRequest::new("s", ContentBlock::from(ImageContent::new("AAAA", "image/png")))
}

fn audio() -> PromptRequest {
    PromptRequest::new("s", ContentBlock::from(AudioContent::new("AAAA", "audio/wav")))
}

fn resource() -> PromptRequest {
    PromptRequest::new(
        "s",
        ContentBlock::from(EmbeddedResource::new(TextResourceContents::new("t", "file:///a"))),
    )
}
