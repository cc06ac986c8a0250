//! A whole conversation between an agent and a client of ours.

use agentwire_acp_agent::{Agent, Context as AgentContext, Error, serve};
use agentwire_acp_client::{ConnectionError, connect};
use agentwire_acp_schema::v1::*;
use agentwire_jsonrpc::RawJson;
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::duplex;
use serde_json::{Value, json};

use crate::recorder::{Recorder, greeting};

/// An agent that uses everything that the client has.
#[derive(Default)]
struct Thorough {
    heard: agentwire_sync::Mutex<Vec<String>>,
}

impl Agent for Thorough {
    async fn initialize(&self, req: InitializeRequest, _: AgentContext) -> Result<InitializeResponse, Error> {
        assert_eq!(req.client_info.unwrap().name, "editor");
        let sessions = SessionCapabilities::new().list(SessionListCapabilities::new());
        Ok(InitializeResponse::new(req.protocol_version)
            .agent_capabilities(AgentCapabilities::new().load_session(true).session_capabilities(sessions))
            .auth_methods([AuthMethodAgent::new("key", "A key")]))
    }

    async fn authenticate(
        &self,
        _: AuthenticateRequest,
        _: AgentContext,
    ) -> Result<AuthenticateResponse, Error> {
        Ok(AuthenticateResponse::new())
    }

    async fn new_session(&self, _: NewSessionRequest, cx: AgentContext) -> Result<NewSessionResponse, Error> {
        let commands = AvailableCommandsUpdate::new([AvailableCommand::new("test", "Runs the tests")]);
        cx.client().session_update(SessionNotification::new("s", commands)).await?;
        Ok(NewSessionResponse::new("s"))
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        cx: AgentContext,
    ) -> Result<LoadSessionResponse, Error> {
        for text in ["one", "two"] {
            cx.client().session_update(SessionNotification::message(&request.session_id, text)).await?;
        }
        Ok(LoadSessionResponse::new())
    }

    async fn list_sessions(
        &self,
        _: ListSessionsRequest,
        _: AgentContext,
    ) -> Result<ListSessionsResponse, Error> {
        Ok(ListSessionsResponse::new([SessionInfo::new("s", "/repo")]))
    }

    async fn prompt(&self, request: PromptRequest, cx: AgentContext) -> Result<PromptResponse, Error> {
        let (client, s) = (cx.client(), &request.session_id);
        let said = |text: String| client.session_update(SessionNotification::message(s, text));
        let call = ToolCall::new("c", "Run the tests").kind(ToolKind::Execute);
        client.session_update(SessionNotification::new(s, call)).await?;
        let options = [
            PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
            PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
        ];
        let allowed = client
            .request_permission(RequestPermissionRequest::new(s, ToolCallUpdate::new("c"), options))
            .await?;
        assert_eq!(allowed, RequestPermissionResponse::selected("yes"));
        let file = client.read_text_file(ReadTextFileRequest::new(s, "/repo/a").line(1)).await?;
        said(file.content).await?;
        client.write_text_file(WriteTextFileRequest::new(s, "/repo/b", "new")).await?;
        let terminal = client.create_terminal(CreateTerminalRequest::new(s, "cargo")).await?.terminal_id;
        let output = client.terminal_output(TerminalOutputRequest::new(s, &terminal)).await?;
        said(output.output).await?;
        client.kill_terminal(KillTerminalRequest::new(s, terminal)).await?;
        let answer: Value = client.extension_request("_echo", &json!({ "deep": [] })).await?;
        said(answer.to_string()).await?;
        let done = ToolCallUpdate::new("c").status(ToolCallStatus::Completed);
        client.session_update(SessionNotification::new(s, done)).await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }

    async fn extension_request(
        &self,
        method: &str,
        params: Option<RawJson>,
        _: AgentContext,
    ) -> Result<RawJson, Error> {
        self.heard.lock().push(method.into());
        Ok(params.unwrap_or(RawJson::NULL))
    }
}

/// Over a transport of one's own (TR-08), with every message held to the schema of the version (RPC-08, RPC-09, INIT-11).
#[tokio::test(start_paused = true)]
async fn a_whole_conversation() {
    // As little room as there can be: what is sent waits for what is read.
    let (near, far) = duplex(0);
    let near = checked(near, Conversation::acp(), Side::Server);
    let far = checked(far, Conversation::acp(), Side::Client);
    let client = Recorder::default();
    let main = async |agent: agentwire_acp_client::AgentHandle| {
        let capabilities = ClientCapabilities::new()
            .fs(FileSystemCapabilities::new().read_text_file(true).write_text_file(true))
            .terminal(true);
        let editor = Implementation::new("editor", "1");
        agent.initialize(greeting().client_info(editor).client_capabilities(capabilities)).await?;
        agent.authenticate(AuthenticateRequest::new("key")).await?;
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?.session_id;
        let turn = agent.prompt(PromptRequest::new(&session, "Run the tests")).await?;
        assert_eq!(turn.stop_reason, StopReason::EndTurn);
        let sessions = agent.list_sessions(ListSessionsRequest::new()).await?.sessions;
        agent.load_session(LoadSessionRequest::new(&sessions[0].session_id, "/repo")).await?;
        let back: Value = agent.extension_request("_anything", &json!({ "a": 1 })).await?;
        assert_eq!(back, json!({ "a": 1 }));
        Ok(())
    };
    let (served, result): (_, Result<(), ConnectionError>) =
        futures::join!(serve(Thorough::default(), near), connect(client.clone(), far, main));
    result.unwrap();
    served.unwrap();
    assert_eq!(
        client.heard(),
        [
            "s available_commands_update",
            "s tool_call",
            "asked s c",
            "s agent_message_chunk /repo/a from 1",
            "write /repo/b new",
            "s agent_message_chunk output",
            "s agent_message_chunk {\"deep\":[]}",
            "s tool_call_update",
            "s agent_message_chunk one",
            "s agent_message_chunk two",
        ]
    );
}
