//! JSON-RPC as servers have to speak it.

pub(super) mod batches;
pub(super) mod malformed;
pub(super) mod messages;
pub(super) mod meta;
pub(crate) mod modern;

use serde_json::json;

use super::Server;
use super::raw::{self, Reaction, SILENCE, quick};
use crate::conversation::Conversation;
use crate::conversation::shared::Open;
use crate::mcp_messages::is_answer;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop};

/// A conversation with a server that has answered an ordinary request, so that its silence is a result.
async fn ready(server: &Server) -> Outcome<Open> {
    let mut conversation = server.open().await?;
    raw::still_works(server, &mut conversation).await.map_err(Stop::while_preparing)?;
    Ok(conversation)
}

/// The responses to bytes that may get none: those that arrive until an ordinary request after them has its response.
async fn responses_to(server: &Server, conversation: &mut Conversation, bytes: &[u8]) -> Outcome<Reaction> {
    let count = usize::from(server.setting.transport == Transport::Http);
    let sent = raw::react(conversation, bytes, count).await;
    let mut reaction = sent.map_err(Stop::while_preparing)?;
    let id = conversation.start(quick(server), json!({})).await?;
    conversation.response(&id).await.map_err(Stop::while_preparing)?;
    let late = conversation.listen(SILENCE).await?.into_iter().map(|arrived| arrived.message);
    reaction.messages.extend(late.filter(is_answer));
    Ok(reaction)
}
