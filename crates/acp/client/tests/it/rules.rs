//! The requests that a client must not send, whatever its code asks for.

use agentwire_acp_client::CallError;
use agentwire_acp_schema::v1::*;
use futures::TryStreamExt;
use serde_json::json;

use crate::check;
use crate::recorder::{Recorder, begin, greeting, refused};

/// MODE-02: only modes that the session has listed, in whichever way it was set up.
#[tokio::test(start_paused = true)]
async fn mode_02_only_modes_that_the_session_listed() {
    check!("MODE-02-listed-modes", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let new = agent.new_session(NewSessionRequest::new("/repo")).await?.session_id;
        agent.load_session(LoadSessionRequest::new("loaded", "/repo")).await?;
        agent.resume_session(ResumeSessionRequest::new("resumed", "/repo")).await?;
        for (session, mode) in [(&new, "slow"), (&new, ""), (&SessionId::from("loaded"), "fast")] {
            let error = refused(agent.set_session_mode(SetSessionModeRequest::new(session, mode))).await;
            assert_eq!(error, format!("session/set_mode: the session did not offer the mode {mode:?}"));
        }
        agent.set_session_mode(SetSessionModeRequest::new(&new, "fast")).await?;
        agent.set_session_mode(SetSessionModeRequest::new("loaded", "ask")).await?;
        // Of a session that was set up elsewhere nothing is known.
        agent.set_session_mode(SetSessionModeRequest::new("elsewhere", "any")).await?;
        // Nor of one whose agent has not repeated it.
        agent.set_session_mode(SetSessionModeRequest::new("resumed", "fast")).await?;
        let set = |value: &str| SetSessionConfigOptionRequest::new("resumed", "model", value);
        agent.set_session_config_option(set("small")).await?;
        assert!(refused(agent.set_session_config_option(set("huge"))).await.ends_with(r#"the value "huge""#));
        let plain = agent.new_session(NewSessionRequest::new("/repo")).await?.session_id;
        let error = refused(agent.set_session_mode(SetSessionModeRequest::new(plain, "fast"))).await;
        assert!(error.ends_with(r#"did not offer the mode "fast""#), "{error}");
        Ok(())
    })
    .unwrap();
}

/// CFG-05: only values that are listed, of the option's type, and by the last list that was received: in the answer that set
/// the session up, in an update before or after it, in the answer to a change. CFG-07: what is of an unknown type is
/// left alone. CFG-06: an unknown category does not matter.
#[tokio::test(start_paused = true)]
async fn cfg_05_and_07_only_values_that_the_session_listed() {
    let client = Recorder::default();
    check!("CFG-05-listed-values", &client, async |agent| {
        let session = begin(&agent).await?;
        let set = |option: &str, value: SessionConfigOptionValue| {
            agent.set_session_config_option(SetSessionConfigOptionRequest::new(&session, option, value))
        };
        for (option, value, why) in [
            ("model", "huge".into(), r#"the option "model" did not offer the value "huge""#),
            ("model", true.into(), r#"the option "model" has a list of values, and this is none of them"#),
            ("web", "true".into(), r#"the option "web" is on or off"#),
            ("speed", "1".into(), r#"the option "speed" is of a type that this version does not know"#),
            ("nope", "small".into(), r#"the session did not offer the option "nope""#),
        ] {
            assert_eq!(refused(set(option, value)).await, format!("session/set_config_option: {why}"));
        }
        set("web", true.into()).await?;
        // That answer offered less.
        assert!(refused(set("model", "large".into())).await.ends_with(r#"the value "large""#));
        set("model", "small".into()).await?;
        // And an update offers it again, in a group.
        client.until(2).await;
        set("model", "large".into()).await?;
        // An update before the answer counts if the answer has no value.
        let early = agent.new_session(NewSessionRequest::new("/early")).await?.session_id;
        agent.set_session_config_option(SetSessionConfigOptionRequest::new(&early, "web", true)).await?;
        let error =
            agent.set_session_config_option(SetSessionConfigOptionRequest::new(&early, "model", "small"));
        assert!(refused(error).await.ends_with(r#"did not offer the option "model""#));
        Ok(())
    })
    .unwrap();
}

/// TC-08: an option that was not offered is never selected, though the client's code does. The agent gets an error, which
/// is not consent.
#[tokio::test(start_paused = true)]
async fn tc_08_only_options_that_were_offered() {
    let client = Recorder::default();
    check!("TC-08-offered-options", &client, async |agent| {
        let session = begin(&agent).await?;
        agent.prompt(PromptRequest::new(session, "go")).await?;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a", "asked session-1 b", "asked session-1 c"]);
}

/// SES-25: the program of an MCP server is named by an absolute path. SES-27: its kind has no name. MOA-01: servers behind the connection itself only
/// where the agent takes them.
#[tokio::test(start_paused = true)]
async fn ses_25_mcp_servers_that_can_be_found() {
    check!("SES-25-mcp-servers", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let with = |server: McpServer| NewSessionRequest::new("/repo").mcp_servers([server]);
        for command in ["server", "./server", "bin/server", ""] {
            let error = refused(agent.new_session(with(McpServerStdio::new("s", command).into()))).await;
            assert_eq!(error, format!("session/new: paths are absolute, and {command:?} is not"));
        }
        let acp = json!({ "type": "acp", "name": "a", "serverId": "1" });
        let error = refused(agent.new_session(with(serde_json::from_value(acp)?))).await;
        assert_eq!(error, "session/new: the agent did not advertise the capability mcpCapabilities.acp");
        for command in ["/bin/server", "C:\\server.exe"] {
            agent.new_session(with(McpServerStdio::new("s", command).into())).await?;
        }
        Ok(())
    })
    .unwrap();
}

/// LIST-06: a page without a cursor is the last. LIST-07: a cursor goes back as it came, whatever is in it.
#[tokio::test(start_paused = true)]
async fn list_06_and_07_all_pages() {
    check!("LIST-06-pages", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let mut sessions = agent.sessions(ListSessionsRequest::new().cwd("/repo"));
        assert_eq!(sessions.try_next().await?.unwrap().session_id, "a");
        // The next page is not asked for before it is needed.
        agent.new_session(NewSessionRequest::new("/repo")).await?;
        let rest: Vec<_> = sessions.map_ok(|session| session.session_id.to_string()).try_collect().await?;
        assert_eq!(rest, ["b", "c"]);
        Ok(())
    })
    .unwrap();
}

/// An agent whose list has no end: the pages are counted, and a circle is noticed.
#[tokio::test(start_paused = true)]
async fn list_07_lists_without_end() {
    check!("LIST-07-no-end", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let sessions = agent.sessions(ListSessionsRequest::new()).collect().await?;
        assert_eq!(sessions.len(), 2, "the pages before the cycle are kept");
        let mut long = agent.sessions(ListSessionsRequest::new()).page_limit(1);
        assert!(long.try_next().await?.is_some());
        let error = long.try_next().await.unwrap_err();
        assert_eq!(error.to_string(), "session/list: there are more than 1 pages, which is the limit");
        let refused = agent.sessions(ListSessionsRequest::new()).collect().await.unwrap_err();
        assert!(matches!(refused, CallError::Refused { .. }), "{refused}");
        let sessions = agent.sessions(ListSessionsRequest::new()).collect().await?;
        assert_eq!(sessions.len(), 1, "the pages before the refusal are kept");
        Ok(())
    })
    .unwrap();
}

/// EL-13: the end of a visit is reported once, and only of one that the person agreed to or is being asked for.
#[tokio::test(start_paused = true)]
async fn el_13_only_visits_that_are_open_are_completed() {
    let client = Recorder::default();
    check!("EL-13-completed", &client, async |agent| {
        let url = ElicitationCapabilities::new().url(ElicitationUrlCapabilities::new());
        agent.initialize(greeting().client_capabilities(ClientCapabilities::new().elicitation(url))).await?;
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?.session_id;
        agent.prompt(PromptRequest::new(session, "go")).await?;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["completed agreed"]);
}

/// AUTH-09: a demand for another login is an error of the call, and the session goes on.
#[tokio::test(start_paused = true)]
async fn auth_09_an_agent_that_wants_a_login_in_between() {
    check!("AUTH-09-login-in-between", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let error = agent.prompt(PromptRequest::new(&session, "go")).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, error_code::AUTH_REQUIRED);
        agent.authenticate(AuthenticateRequest::new("key")).await?;
        let turn = agent.prompt(PromptRequest::new(&session, "go")).await?;
        assert_eq!(turn.stop_reason, StopReason::EndTurn);
        Ok(())
    })
    .unwrap();
}

/// INIT-03: the version is the one that this client speaks, and no other is named.
#[tokio::test(start_paused = true)]
async fn init_03_the_version_is_ours() {
    check!("INIT-03-our-version", &Recorder::default(), async |agent| {
        for version in [0, 2, 65535] {
            let error = refused(agent.initialize(InitializeRequest::new(version))).await;
            assert_eq!(
                error,
                "initialize: this client speaks version 1 of the protocol, and asks for no other"
            );
        }
        agent.initialize(greeting()).await?;
        Ok(())
    })
    .unwrap();
}

/// INIT-10: a version that is not a number, or not a possible one, is not an answer. The agent may try again.
#[tokio::test(start_paused = true)]
async fn init_10_a_version_is_a_whole_number() {
    check!("INIT-10-versions", &Recorder::default(), async |agent| {
        for _ in 0..4 {
            let error = agent.initialize(greeting()).await.unwrap_err();
            assert!(matches!(error, CallError::Decode { .. }), "{error}");
        }
        agent.initialize(greeting()).await?;
        Ok(())
    })
    .unwrap();
}
