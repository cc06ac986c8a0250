//! The ACP agent on `agent-client-protocol`, set up as its example: a prompt `burst N` sends N updates, any other text
//! ends the turn at once.

use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
    TextContent,
};
use agent_client_protocol::{Agent, Result, Stdio};

#[tokio::main]
async fn main() -> Result<()> {
    Agent
        .v1()
        .on_receive_request(
            async move |request: InitializeRequest, responder, _connection| {
                responder.respond(
                    InitializeResponse::new(request.protocol_version)
                        .agent_capabilities(AgentCapabilities::new()),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: NewSessionRequest, responder, _connection| {
                responder.respond(NewSessionResponse::new("session-1"))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection| {
                for number in 0..updates_wanted(&request) {
                    let text = TextContent::new(format!("chunk {number}"));
                    let chunk = SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::Text(text)));
                    connection
                        .send_notification(SessionNotification::new(request.session_id.clone(), chunk))?;
                }
                responder.respond(PromptResponse::new(StopReason::EndTurn))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

fn updates_wanted(request: &PromptRequest) -> u64 {
    let bursts = request.prompt.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => text.text.strip_prefix("burst ")?.parse::<u64>().ok(),
        _ => None,
    });
    bursts.sum()
}
