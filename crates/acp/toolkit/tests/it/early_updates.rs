//! Updates that precede the answer which opens their session.

use agentwire_acp_agent::{Agent, Context};
use agentwire_acp_client::{BoxError, Error, connect};
use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{Conversation, Toolkit, Unattended};
use agentwire_transport::duplex;

/// An agent that sends its commands before it answers `session/new`.
struct Hasty;

impl Agent for Hasty {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, context: Context) -> Result<NewSessionResponse, Error> {
        for session in ["s", "another"] {
            let commands = AvailableCommandsUpdate::new([AvailableCommand::new("plan", "Makes a plan")]);
            context.client().session_update(SessionNotification::new(session, commands)).await?;
        }
        Ok(NewSessionResponse::new("s"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let late = SessionNotification::message("later", "not kept");
        context.client().session_update(late).await?;
        context.client().session_update(SessionNotification::message(&request.session_id, "done")).await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

#[tokio::test]
async fn updates_before_the_answer_are_kept() -> Result<(), BoxError> {
    let (ours, theirs) = duplex(8);
    let toolkit = Toolkit::new(Unattended);
    let commands = |conversation: &mut Conversation| conversation.commands().len();
    let client = connect(toolkit.clone(), ours, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = toolkit.new_session(&agent, NewSessionRequest::new("/")).await?.session_id;
        assert_eq!(toolkit.conversation(&session, commands), Some(1));
        toolkit.prompt(&agent, PromptRequest::new(&session, "go")).await?;
        assert_eq!(toolkit.conversation(&session, |conversation| conversation.entries().count()), Some(2));
        // What came for a session that was not opened is forgotten.
        for session in ["another", "later"] {
            toolkit.open(&SessionId::from(session), &NewSessionRequest::new("/"));
            assert_eq!(toolkit.conversation(&session.into(), commands), Some(0));
        }
        Ok(())
    });
    let (ran, served) = tokio::join!(client, agentwire_acp_agent::serve(Hasty, theirs));
    ran?;
    Ok(served?)
}
