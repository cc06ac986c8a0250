//! A client that does not know which version the agent speaks.

use agentwire_acp_client::{AnyAgent, AnyClient, BoxError, connect_any};
use agentwire_acp_schema::{v1, v2};
use agentwire_transport::lines;
use futures::future::LocalBoxFuture;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use super::recorder::Recorder as Two;
use crate::recorder::Recorder as One;
use crate::script::{folder, play, read};

type Main<'a, R> = Box<dyn FnOnce(AnyAgent) -> LocalBoxFuture<'a, Result<R, BoxError>> + 'a>;

/// Runs `main` against an agent that plays a script.
async fn check<R>(
    name: &str,
    one: &One,
    two: &Two,
    main: impl AsyncFnOnce(AnyAgent) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    let script = read(&folder("acp-client-v2").join(name).with_extension("jsonl"));
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(near);
    let fs = v1::FileSystemCapabilities::new().read_text_file(true);
    let client = AnyClient::new(v1::Implementation::new("editor", "1"), one.clone(), two.clone())
        .v1_capabilities(v1::ClientCapabilities::new().fs(fs))
        .v2_capabilities(v2::ClientCapabilities::new())
        .timeout(std::time::Duration::from_secs(10));
    // Of one type for all tests, so that the whole client is compiled once and not for each.
    let main: Main<'_, R> = Box::new(|agent| Box::pin(async move { main(agent).await }));
    let connected = connect_any(client, lines(read.compat(), write.compat_write()), main);
    let (result, played) = futures::join!(connected, play(&script, far));
    if let Err(why) = played {
        panic!("{why}\n  main gave {:?}", result.err());
    }
    Ok(result?)
}

/// Updates right behind the agent's answer are read in the version of the answer.
#[tokio::test(start_paused = true)]
async fn an_agent_of_version_2() {
    let (one, two) = (One::default(), Two::default());
    check("ANY-2", &one, &two, async |agent| {
        let AnyAgent::V2(agent) = agent else { panic!("another version") };
        assert_eq!(agent.info().unwrap().name, "raw");
        let session = agent.new_session(v2::NewSessionRequest::new("/repo")).await?.session_id;
        agent.prompt(v2::PromptRequest::new(session, "go")).await?;
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(one.heard(), [""; 0]);
    assert_eq!(
        two.heard()[..2],
        ["_auth/status_update {\"state\":\"ok\"}".to_owned(), "session-1 user_message".into()]
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_of_version_1() {
    let (one, two) = (One::default(), Two::default());
    check("ANY-1", &one, &two, async |agent| {
        let AnyAgent::V1(agent) = agent else { panic!("another version") };
        let session = agent.new_session(v1::NewSessionRequest::new("/repo")).await?.session_id;
        let turn = agent.prompt(v1::PromptRequest::new(session, "go")).await?;
        assert_eq!(turn.stop_reason, v1::StopReason::EndTurn);
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(one.heard(), ["_auth/status_update {\"state\":\"ok\"}", "session-1 agent_message_chunk one"]);
    assert_eq!(two.heard(), [""; 0]);
}

/// An agent that gives back whatever version it is asked for, and one that refuses what it does not know: both are asked
/// again, in version 1.
#[tokio::test(start_paused = true)]
async fn agents_that_are_asked_again() {
    for name in ["ANY-echo", "ANY-strict"] {
        check(name, &One::default(), &Two::default(), async |agent| {
            let AnyAgent::V1(agent) = agent else { panic!("another version") };
            agent.new_session(v1::NewSessionRequest::new("/repo")).await?;
            Ok(())
        })
        .await
        .unwrap();
    }
}

/// Without a common version or without an answer, the connection ends with an error that names the agent's version.
#[tokio::test(start_paused = true)]
async fn init_08_agents_of_neither_version() {
    for (name, why) in [
        ("ANY-none", "other versions of the protocol (3, 4)"),
        ("ANY-99", "other versions of the protocol (99)"),
        ("ANY-no", "no key"),
        ("ANY-silent", "initialize: no answer within 10s"),
    ] {
        let main = async |_| panic!("there is no agent");
        let error = check::<()>(name, &One::default(), &Two::default(), main).await.unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}
