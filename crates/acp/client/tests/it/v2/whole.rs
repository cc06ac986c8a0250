//! Whole conversations between agents and clients of ours, in whichever version both speak.

use agentwire_acp_agent as agent;
use agentwire_acp_client::v2::TurnEvent;
use agentwire_acp_client::{AnyAgent, AnyClient, ConnectionError, Error, connect_any};
use agentwire_acp_schema::{v1, v2};
use agentwire_transport::duplex;

use super::recorder::Recorder as Two;
use crate::recorder::Recorder as One;

/// An agent that repeats its prompt, asks for permission, and can wait.
struct Echo;

impl agent::v2::Agent for Echo {
    async fn initialize(
        &self,
        request: v2::InitializeRequest,
        _: agent::v2::Context,
    ) -> Result<v2::InitializeResponse, Error> {
        assert_eq!(request.info.name, "editor");
        let can = v2::AgentCapabilities::new().session(v2::SessionCapabilities::new());
        let ourselves = v2::Implementation::new("echo", "1");
        Ok(v2::InitializeResponse::new(request.protocol_version, ourselves).capabilities(can))
    }

    async fn new_session(
        &self,
        _: v2::NewSessionRequest,
        _: agent::v2::Context,
    ) -> Result<v2::NewSessionResponse, Error> {
        Ok(v2::NewSessionResponse::new("s"))
    }

    async fn prompt(
        &self,
        request: v2::PromptRequest,
        turn: agent::v2::Turn,
    ) -> Result<v2::IdleStopReason, Error> {
        turn.accept("m", &request.prompt).await?;
        let v2::ContentBlock::Text(text) = &request.prompt[0] else { panic!("no text") };
        if text.text == "wait" {
            turn.cancelled().await;
            return Err(Error::internal_error("aborted"));
        }
        let option = v2::PermissionOption::new("yes", "Yes", v2::PermissionOptionKind::AllowOnce);
        let question = v2::RequestPermissionRequest::new("s", "plain", [option]);
        let allowed = turn.client().request_permission(question).await?;
        assert!(matches!(allowed.outcome, v2::RequestPermissionOutcome::Selected(_)));
        for block in request.prompt {
            turn.client().session_update(v2::UpdateSessionNotification::message("s", "a", block)).await?;
        }
        Ok(v2::IdleStopReason::EndTurn)
    }
}

impl agent::Agent for Echo {
    async fn initialize(
        &self,
        request: v1::InitializeRequest,
        _: agent::Context,
    ) -> Result<v1::InitializeResponse, Error> {
        assert!(request.client_capabilities.fs.read_text_file && request.client_info.is_some());
        Ok(v1::InitializeResponse::new(v1::ProtocolVersion::V1))
    }

    async fn new_session(
        &self,
        _: v1::NewSessionRequest,
        _: agent::Context,
    ) -> Result<v1::NewSessionResponse, Error> {
        Ok(v1::NewSessionResponse::new("s"))
    }

    async fn prompt(
        &self,
        request: v1::PromptRequest,
        cx: agent::Context,
    ) -> Result<v1::PromptResponse, Error> {
        for block in request.prompt {
            cx.client().session_update(v1::SessionNotification::message("s", block)).await?;
        }
        Ok(v1::PromptResponse::new(v1::StopReason::EndTurn))
    }
}

fn client() -> AnyClient<One, Two> {
    let fs = v1::FileSystemCapabilities::new().read_text_file(true);
    AnyClient::new(v1::Implementation::new("editor", "1"), One::default(), Two::default())
        .v1_capabilities(v1::ClientCapabilities::new().fs(fs))
}

#[tokio::test(start_paused = true)]
async fn both_speak_version_2() {
    let (near, far) = duplex(0);
    let main = async |agent| {
        let AnyAgent::V2(agent) = agent else { panic!("another version") };
        let session = agent.new_session(v2::NewSessionRequest::new("/repo")).await?.session_id;
        let turn = agent.prompt(v2::PromptRequest::new(&session, "hello")).await?;
        assert_eq!(turn.stop_reason(), Some(&v2::IdleStopReason::EndTurn));
        assert_eq!(turn.message_id.unwrap(), "m");
        let mut turn = agent.prompt(v2::PromptRequest::new(&session, "wait")).updates();
        let mut cancelled = false;
        while let Some(event) = turn.next().await {
            match event? {
                TurnEvent::Update(v2::SessionUpdate::StateUpdate(state)) if !cancelled => {
                    assert!(matches!(*state, v2::StateUpdate::Running(_)));
                    cancelled = true;
                    agent.cancel(v2::CancelSessionNotification::new(&session)).await?;
                }
                TurnEvent::Stopped(stopped) => {
                    assert_eq!(stopped.stop_reason(), Some(&v2::IdleStopReason::Cancelled));
                }
                _ => {}
            }
        }
        assert!(cancelled);
        Ok(())
    };
    let (served, result): (_, Result<(), ConnectionError>) =
        futures::join!(agent::v2::serve(Echo, near), connect_any(client(), far, main));
    result.unwrap();
    served.unwrap();
}

/// The agent knows nothing of version 2, and what the client can do in version 1 reaches it all the same.
#[tokio::test(start_paused = true)]
async fn the_agent_speaks_version_1() {
    let (near, far) = duplex(0);
    let main = async |agent| {
        let AnyAgent::V1(agent) = agent else { panic!("another version") };
        let session = agent.new_session(v1::NewSessionRequest::new("/repo")).await?.session_id;
        let turn = agent.prompt(v1::PromptRequest::new(session, "hello")).await?;
        assert_eq!(turn.stop_reason, v1::StopReason::EndTurn);
        Ok(())
    };
    let (served, result): (_, Result<(), ConnectionError>) =
        futures::join!(agent::serve(Echo, near), connect_any(client(), far, main));
    result.unwrap();
    served.unwrap();
}
