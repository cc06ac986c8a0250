//! The most frequent messages of ACP: our types beside plain ones or, with the feature `rival`, those of
//! `agent-client-protocol-schema`.

#[cfg(not(feature = "rival"))]
mod limit;
mod messages;

use std::error::Error;

#[cfg(feature = "rival")]
use agent_client_protocol_schema::v1 as other;
use agentwire_acp_schema::v1 as ours;
#[cfg(not(feature = "rival"))]
use limit as other;
use rival_schema::{Message, Subject};

const OTHER: &str = if cfg!(feature = "rival") { "agent-client-protocol-schema 1.15.1" } else { "limit" };

/// The subjects of one message: the same type in two implementations.
macro_rules! subjects {
    ($name:ident) => {
        vec![Subject::new::<ours::$name>("ours"), Subject::new::<other::$name>(OTHER)]
    };
}

fn main() -> Result<(), Box<dyn Error>> {
    let message = |key, title, text: serde_json::Result<String>, subjects| {
        text.map(|text| Message { key, title, text, subjects })
    };
    rival_schema::run(vec![
        message(
            "chunk",
            "session/update, agent_message_chunk",
            messages::chunk(),
            subjects!(SessionNotification),
        )?,
        message(
            "tool-update",
            "session/update, tool_call_update",
            messages::tool_call_update(),
            subjects!(SessionNotification),
        )?,
        message("prompt", "session/prompt", messages::prompt(), subjects!(PromptRequest))?,
        message("acp-initialize", "initialize", messages::initialize(), subjects!(InitializeRequest))?,
        message(
            "acp-initialized",
            "answer to initialize",
            messages::initialize_answer(),
            subjects!(InitializeResponse),
        )?,
    ])
}
