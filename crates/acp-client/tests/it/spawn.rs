//! Generic code that spawns a connection.

use agentwire_acp_agent::{Agent, Context, Error, serve};
use agentwire_acp_client::{AgentHandle, BoxError, Client, connect};
use agentwire_acp_schema::v1::*;
use agentwire_transport::{Transport, duplex};
use tokio::task::JoinHandle;

use crate::recorder::Recorder;

/// Spawns what is generic in everything, the future of `main` included.
fn spawn<C, T, F>(
    client: C,
    transport: T,
    main: impl FnOnce(AgentHandle) -> F + Send + 'static,
) -> JoinHandle<Result<(), BoxError>>
where
    C: Client + 'static,
    T: Transport + Send + 'static,
    F: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    tokio::spawn(connect(client, transport, main))
}

/// Spawns a whole conversation of any client.
fn converse<C: Client + 'static>(
    client: C,
    transport: impl Transport + Send + 'static,
) -> JoinHandle<Result<(), BoxError>> {
    spawn(client, transport, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?;
        agent.prompt(PromptRequest::new(session.session_id, "hello")).await?;
        Ok(())
    })
}

/// Spawns any agent.
fn spawn_agent<A: Agent + 'static>(agent: A, transport: impl Transport + Send + 'static) {
    tokio::spawn(serve(agent, transport));
}

struct Echo;

impl Agent for Echo {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("s"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        for block in request.prompt {
            context.client().session_update(SessionNotification::message(&request.session_id, block)).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// Both ends are boxed, and run on threads of their own.
#[tokio::test(flavor = "multi_thread")]
async fn boxed_ends_that_generic_code_spawns() {
    let (near, far) = duplex(64);
    let agent: Box<dyn Agent> = Box::new(Echo);
    spawn_agent(agent, far);
    let recorder = Recorder::default();
    let client: Box<dyn Client> = Box::new(recorder.clone());
    converse(client, near).await.unwrap().unwrap();
    assert_eq!(recorder.heard(), ["s agent_message_chunk hello"]);
}
