//! The messages before the turns, and the agent's questions in version 2.

use agentwire_acp_client::CallError;
use agentwire_acp_client::v2::unsupported_version;
use agentwire_acp_schema::v2::*;

use super::recorder::{Recorder, begin, greeting};
use crate::check_v2;
use crate::recorder::refused;

#[tokio::test(start_paused = true)]
async fn initialize_comes_first_and_once() {
    check_v2!("INIT-first", &Recorder::default(), async |agent| {
        assert!(agent.initialize_response().is_none());
        for error in [
            refused(agent.new_session(NewSessionRequest::new("/repo"))).await,
            refused(agent.prompt(PromptRequest::new("s", "hello"))).await,
            refused(agent.close_session(CloseSessionRequest::new("s"))).await,
            refused(agent.cancel(CancelSessionNotification::new("s"))).await,
            refused(agent.extension_request::<_, ()>("_x", &())).await,
            refused(agent.extension_notification("_x", &())).await,
        ] {
            assert!(error.ends_with(": initialize must be called, and have succeeded, first"), "{error}");
        }
        let error =
            refused(agent.initialize(InitializeRequest::new(1, Implementation::new("editor", "1")))).await;
        assert_eq!(error, "initialize: this client speaks version 2 of the protocol, and asks for no other");
        let answer = agent.initialize(greeting()).await?;
        assert_eq!(agent.info().unwrap().name, "raw");
        assert_eq!(agent.initialize_response(), Some(&answer));
        assert!(agent.capabilities().unwrap().session.is_some());
        let error = refused(agent.initialize(greeting())).await;
        assert_eq!(error, "initialize: this connection has been initialized already");
        Ok(())
    })
    .unwrap();
}

/// An agent of version 1 answers in version 1, which differs from an answer that cannot be read.
#[tokio::test(start_paused = true)]
async fn init_08_an_agent_of_version_1() {
    let error = check_v2!("INIT-08-version-1", &Recorder::default(), async |agent| {
        let error = agent.initialize(greeting()).await.unwrap_err();
        assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
        let later = refused(agent.new_session(NewSessionRequest::new("/repo"))).await;
        assert!(later.contains("have succeeded"), "{later}");
        Err::<(), _>(error.into())
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "initialize: the agent speaks version 1 of the protocol, and this client speaks version 2"
    );
}

/// -32022 lists the versions of the agent.
#[tokio::test(start_paused = true)]
async fn an_agent_that_speaks_no_version_up_to_ours() {
    check_v2!("INIT-unsupported-version", &Recorder::default(), async |agent| {
        let error = agent.initialize(greeting()).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, error_code::UNSUPPORTED_PROTOCOL_VERSION);
        let told = unsupported_version(&error).unwrap();
        assert_eq!((told.requested, told.supported), (2.into(), vec![3.into(), 4.into()]));
        // It may be tried again, and another error is another thing.
        let error = agent.initialize(greeting()).await.unwrap_err();
        assert!(unsupported_version(&error).is_none());
        agent.initialize(greeting()).await?;
        Ok(())
    })
    .unwrap();
}

/// A replay, and the session's state, have been handled when `session/resume` returns.
#[tokio::test(start_paused = true)]
async fn resume_with_and_without_a_replay() {
    let client = Recorder::default();
    check_v2!("RESUME-replay", &client, async |agent| {
        agent.initialize(greeting()).await?;
        let request = ResumeSessionRequest::new("old", "/repo");
        let session = agent.resume_session(request.clone().replay_from(ReplayFrom::start())).await?;
        assert_eq!(session.config_options.len(), 1);
        assert_eq!(
            client.heard(),
            ["old user_message_chunk asked", "old agent_message_chunk answered", "old state_update running"]
        );
        agent.resume_session(request).await?;
        assert_eq!(client.heard().len(), 4);
        Ok(())
    })
    .unwrap();
}

/// Closing what the agent does not know has worked; any other refusal is one.
#[tokio::test(start_paused = true)]
async fn closing_a_session_that_is_not_there() {
    check_v2!("CLOSE-unknown", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        agent.close_session(CloseSessionRequest::new(&session)).await?;
        agent.close_session(CloseSessionRequest::new(&session)).await?;
        let error = agent.close_session(CloseSessionRequest::new(&session)).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, -32603);
        Ok(())
    })
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn list_06_all_pages() {
    check_v2!("LIST-pages", &Recorder::default(), async |agent| {
        agent.initialize(greeting()).await?;
        let sessions = agent.sessions(ListSessionsRequest::new().cwd("/repo")).collect().await?;
        let ids: Vec<_> = sessions.iter().map(|session| session.session_id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        Ok(())
    })
    .unwrap();
}

/// EL-02, EL-13, TC-08 and FWD-01 hold in version 2 as well. What is gone from it does not exist.
#[tokio::test(start_paused = true)]
async fn questions_of_the_agent() {
    let client = Recorder::default();
    check_v2!("ASKED-by-the-agent", &client, async |agent| {
        let url = ElicitationCapabilities::new().url(ElicitationUrlCapabilities::new());
        agent.initialize(greeting().capabilities(ClientCapabilities::new().elicitation(url))).await?;
        agent.extension_notification("_note", &[1]).await?;
        let answer: Vec<u8> = agent.extension_request("_sum", &[1, 2]).await?;
        assert_eq!(answer, [3]);
        Ok(())
    })
    .unwrap();
    assert_eq!(
        client.heard(),
        [
            "asked s odd",
            "asked s unknown",
            "completed agreed",
            "s zzz_update",
            "unreadable {\"sessionId\":7}",
            "_told {\"a\":1}"
        ]
    );
}
