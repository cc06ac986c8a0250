//! The agent of the README: one closure that answers a prompt. An editor starts it and speaks to it over
//! stdio. It keeps its sessions in the folder `sessions`.

use agentwire_acp_sessions::{FileStore, Turn, agent, schema::StopReason};
use agentwire_transport_stdio::stdio;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    agent(async |turn: Turn| {
        match turn.text().split_once(' ') {
            Some(("/call", tool)) => {
                // The user is asked, the client shows the call, and a cancel reaches the server.
                let result = turn.call_tool(tool, json!({})).await?;
                turn.say(result.text().into_owned()).await?;
            }
            _ => {
                let tools = turn.mcp().tools().await; // all servers of this session, over all transports
                turn.say(format!("{} tools, you said: {}", tools.len(), turn.text())).await?;
            }
        }
        Ok(StopReason::EndTurn)
    })
    .store(FileStore::open("sessions")?) // default: memory
    .serve(stdio()?)
    .await?;
    Ok(())
}
