//! Generic code that spawns a connection.

use agentwire_acp_agent::{Agent, Context, Error, serve, serve_with};
use agentwire_acp_client::{
    AgentHandle, BoxError, Client, Config, ConnectionError, connect, connect_with, start,
};
use agentwire_acp_schema::v1::*;
use agentwire_transport::{Transport, duplex};
use tokio::task::JoinHandle;

use crate::recorder::Recorder;

/// Spawns what is generic in everything, the future of `main` included.
fn spawn<C, T, F>(
    client: C,
    transport: T,
    main: impl FnOnce(AgentHandle) -> F + Send + 'static,
) -> JoinHandle<Result<(), ConnectionError>>
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
) -> JoinHandle<Result<(), ConnectionError>> {
    spawn(client, transport, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?;
        agent.prompt(PromptRequest::new(session.session_id, "hello")).await?;
        Ok(())
    })
}

/// The same with a configuration.
fn converse_with<C: Client + 'static>(
    client: C,
    transport: impl Transport + Send + 'static,
    config: Config,
) -> JoinHandle<Result<(), ConnectionError>> {
    tokio::spawn(connect_with(client, transport, config, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        Ok(())
    }))
}

/// The same with a connection that outlives the function.
fn begin<C: Client + 'static>(client: C, transport: impl Transport + Send + 'static) -> AgentHandle {
    let (agent, connection) = start(client, transport, Config::new());
    tokio::spawn(connection);
    agent
}

/// Spawns any agent.
fn spawn_agent<A: Agent + 'static>(agent: A, transport: impl Transport + Send + 'static) {
    tokio::spawn(serve(agent, transport));
}

/// Spawns any agent with a configuration.
fn spawn_agent_with<A: Agent + 'static>(agent: A, transport: impl Transport + Send + 'static) {
    tokio::spawn(serve_with(agent, transport, agentwire_acp_agent::Config::new()));
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

    let (near, far) = duplex(64);
    spawn_agent_with(Echo, far);
    converse_with(recorder.clone(), near, Config::new()).await.unwrap().unwrap();
    let (near, far) = duplex(64);
    spawn_agent_with(Echo, far);
    begin(recorder, near).initialize(InitializeRequest::new(ProtocolVersion::V1)).await.unwrap();
}

/// A vector of agents and one of clients, of which each serves a connection.
#[tokio::test]
async fn trait_objects_stand_in_a_vector() {
    let agents: Vec<Box<dyn Agent>> = vec![Box::new(Echo), Box::new(Echo)];
    let clients: Vec<std::sync::Arc<dyn Client>> = vec![
        std::sync::Arc::new(Recorder::default()),
        std::sync::Arc::new(Box::new(Recorder::default()) as Box<dyn Client>),
    ];
    for (agent, client) in agents.into_iter().zip(clients) {
        let (near, far) = duplex(64);
        spawn_agent(agent, far);
        converse(client, near).await.unwrap().unwrap();
    }
}

#[cfg(feature = "v2")]
mod version_2 {
    use agentwire_acp_agent::{Router, v2 as agents};
    use agentwire_acp_client::{AnyAgent, AnyClient, connect_any, connect_any_with, v2};

    use super::*;

    fn spawn<C, T, F>(
        client: C,
        transport: T,
        main: impl FnOnce(v2::AgentHandle) -> F + Send + 'static,
    ) -> JoinHandle<Result<(), ConnectionError>>
    where
        C: v2::Client + 'static,
        T: Transport + Send + 'static,
        F: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        tokio::spawn(v2::connect(client, transport, main))
    }

    fn spawn_any<C1, C2, T, F>(
        client: AnyClient<C1, C2>,
        transport: T,
        main: impl FnOnce(AnyAgent) -> F + Send + 'static,
    ) -> JoinHandle<Result<(), ConnectionError>>
    where
        C1: Client + 'static,
        C2: v2::Client + 'static,
        T: Transport + Send + 'static,
        F: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        tokio::spawn(connect_any(client, transport, main))
    }

    fn spawn_any_with<C1, C2>(
        client: AnyClient<C1, C2>,
        transport: impl Transport + Send + 'static,
    ) -> JoinHandle<Result<(), ConnectionError>>
    where
        C1: Client + 'static,
        C2: v2::Client + 'static,
    {
        tokio::spawn(connect_any_with(client, transport, Config::new(), async |_| Ok(())))
    }

    fn spawn_agent<A: agents::Agent + 'static>(agent: A, transport: impl Transport + Send + 'static) {
        tokio::spawn(agents::serve(agent, transport));
    }

    fn spawn_router<A: Agent + 'static>(agent: A, transport: impl Transport + Send + 'static) {
        tokio::spawn(Router::v1(agent).serve(transport));
    }

    struct Two;

    impl agents::Agent for Two {
        async fn initialize(
            &self,
            _: agentwire_acp_schema::v2::InitializeRequest,
            _: agents::Context,
        ) -> Result<agentwire_acp_schema::v2::InitializeResponse, Error> {
            Err(Error::internal_error("not now"))
        }
        async fn new_session(
            &self,
            _: agentwire_acp_schema::v2::NewSessionRequest,
            _: agents::Context,
        ) -> Result<agentwire_acp_schema::v2::NewSessionResponse, Error> {
            Err(Error::internal_error("not now"))
        }

        async fn prompt(
            &self,
            _: agentwire_acp_schema::v2::PromptRequest,
            _: agents::Turn,
        ) -> Result<agentwire_acp_schema::v2::IdleStopReason, Error> {
            Err(Error::internal_error("not now"))
        }
    }

    #[tokio::test]
    async fn generic_code_spawns_any_version() {
        let info = || Implementation::new("editor", "1.0.0");
        let any = || AnyClient::new(info(), Recorder::default(), crate::v2::recorder::Recorder::default());
        let (near, far) = duplex(64);
        spawn_router(Echo, far);
        let main = async |agent| matches!(agent, AnyAgent::V1(_)).then_some(()).ok_or_else(|| "not 1".into());
        spawn_any(any(), near, main).await.unwrap().unwrap();
        let (near, far) = duplex(64);
        spawn_router(Echo, far);
        spawn_any_with(any(), near).await.unwrap().unwrap();

        let (near, far) = duplex(64);
        let agent: Box<dyn agents::Agent> = Box::new(Two);
        spawn_agent(agent, far);
        let client: Box<dyn v2::Client> = Box::new(crate::v2::recorder::Recorder::default());
        let main = async move |agent: v2::AgentHandle| {
            let hello = agentwire_acp_schema::v2::InitializeRequest::new(ProtocolVersion::V2, info());
            agent.initialize(hello).await?;
            Ok(())
        };
        let refused = spawn(client, near, main).await.unwrap().unwrap_err();
        let refused = format!("{refused:#}");
        assert!(refused.contains("not now"), "{refused}");
    }
}
