//! The ACP client on `agent-client-protocol`: prompts `burst N` (N is the first argument), counts the updates, and prints
//! their number and the time to stderr.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionNotification, SessionUpdate,
    TextContent,
};
use agent_client_protocol::{Client, Error, Result, Stdio};

#[tokio::main]
async fn main() -> Result<()> {
    let updates = std::env::args().nth(1).ok_or_else(Error::invalid_params)?;
    let seen = Arc::new(AtomicU64::new(0));
    let counted = seen.clone();
    Client
        .v1()
        .on_receive_notification(
            async move |note: SessionNotification, _connection| {
                if matches!(note.update, SessionUpdate::AgentMessageChunk(_)) {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(Stdio::new(), async move |connection| {
            connection.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
            let session = connection.send_request(NewSessionRequest::new("/")).block_task().await?;
            let prompt = vec![ContentBlock::Text(TextContent::new(format!("burst {updates}")))];
            let begun = Instant::now();
            connection.send_request(PromptRequest::new(session.session_id, prompt)).block_task().await?;
            eprintln!("updates {} elapsed_ns {}", seen.load(Ordering::Relaxed), begun.elapsed().as_nanos());
            Ok(())
        })
        .await
}
