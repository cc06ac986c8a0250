//! A client to measure: prompts `burst N` (N is the first argument) over its own stdin and stdout, counts the
//! updates, and writes their number and the time to stderr.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use agentwire_acp_client::{BoxError, Client, Context, Error, connect};
use agentwire_acp_schema::v1::{
    InitializeRequest, NewSessionRequest, PromptRequest, ProtocolVersion, RequestPermissionRequest,
    RequestPermissionResponse, SessionNotification, SessionUpdate,
};
use agentwire_transport_stdio::stdio;

struct Counter {
    seen: Arc<AtomicU64>,
}

impl Client for Counter {
    fn session_update(&self, notification: SessionNotification) {
        if matches!(notification.update, SessionUpdate::AgentMessageChunk(_)) {
            self.seen.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        Ok(request.allow())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let updates = std::env::args().nth(1).ok_or("say how many updates to ask for")?;
    let seen = Arc::new(AtomicU64::new(0));
    connect(Counter { seen: seen.clone() }, stdio()?, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = agent.new_session(NewSessionRequest::new("/")).await?;
        let begun = Instant::now();
        agent.prompt(PromptRequest::new(session.session_id, format!("burst {updates}"))).await?;
        eprintln!("updates {} elapsed_ns {}", seen.load(Ordering::Relaxed), begun.elapsed().as_nanos());
        Ok(())
    })
    .await?;
    Ok(())
}
