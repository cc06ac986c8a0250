//! The conversation as messages for a chat model.

mod merge;
mod message;
mod render;

use std::fmt;
use std::future::IntoFuture;

use agentwire_wire_derive::Build;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryStreamExt};

use self::merge::Merge;
pub use self::message::{AssistantMessage, Message, ToolResult, ToolUse, UserMessage};
use super::{Turn, TurnError};

impl Turn {
    /// Returns the conversation so far as messages for a chat model, oldest first, this turn's prompt included.
    ///
    /// The updates are read from the store when the value is awaited, and merged:
    ///
    /// - The chunks of a prompt are one [`UserMessage`].
    /// - Chunks of the answer are joined, and so are thoughts, which are separate. They and the tool calls that follow them
    ///   are one [`AssistantMessage`]. Text after a tool call begins another one, and so does a tool call that is announced
    ///   after the earlier ones have ended, because the model knew their results.
    /// - Each tool call has exactly one result, in its [`ToolUse`]. The result of a call that was cut off has the reason: by a
    ///   cancellation, by the end of its turn or of the agent's process, or because it still runs.
    /// - Plans, modes, titles and other updates are left out, and so is an answer of thoughts alone or of white space.
    ///
    /// The order is the one that APIs like those of OpenAI and Anthropic demand, if the results of a message's tool calls are put
    /// after it. A turn that calls the model in a loop asks for the messages again in each round.
    ///
    /// # Memory
    ///
    /// Without [`byte_limit`](PendingMessages::byte_limit) the messages take the memory of the whole session. With it, they take
    /// at most the limit, the turn that is being read, and one record of the store.
    ///
    /// # Errors
    ///
    /// [`TurnError::Store`] when the session cannot be read. [`TurnError::Cancelled`] and
    /// [`TurnError::Ended`], so that a loop around a model ends with its turn.
    ///
    /// # Examples
    ///
    /// The body of a request to an OpenAI-compatible API:
    ///
    /// ```
    /// use agentwire_acp_sessions::{Message, Turn, TurnError};
    /// use serde_json::{Value, json};
    ///
    /// async fn request(turn: &Turn) -> Result<Value, TurnError> {
    ///     let mut messages = vec![json!({ "role": "system", "content": "You edit code." })];
    ///     for message in turn.messages().byte_limit(400_000).await? {
    ///         match message {
    ///             Message::User(user) => messages.push(json!({ "role": "user", "content": user.text() })),
    ///             Message::Assistant(said) if said.tool_uses.is_empty() => {
    ///                 messages.push(json!({ "role": "assistant", "content": said.text }));
    ///             }
    ///             Message::Assistant(said) => {
    ///                 let calls = said.tool_uses.iter().map(|call| {
    ///                     let function = json!({ "name": call.name, "arguments": call.arguments.as_str() });
    ///                     json!({ "id": call.id, "type": "function", "function": function })
    ///                 });
    ///                 let calls: Vec<_> = calls.collect();
    ///                 messages.push(json!({ "role": "assistant", "content": said.text, "tool_calls": calls }));
    ///                 for call in said.tool_uses {
    ///                     let result = call.result.text();
    ///                     messages.push(json!({ "role": "tool", "tool_call_id": call.id, "content": result }));
    ///                 }
    ///             }
    ///             _ => {}
    ///         }
    ///     }
    ///     Ok(json!({ "model": "small", "stream": true, "messages": messages }))
    /// }
    /// ```
    pub fn messages(&self) -> PendingMessages {
        PendingMessages { turn: self.clone(), limit: usize::MAX }
    }
}

/// The messages of a session, which are read when this is awaited. See [`Turn::messages`].
#[derive(Build)]
#[must_use = "the messages are not read until this is awaited"]
pub struct PendingMessages {
    turn: Turn,
    /// Sets how many bytes of text and JSON the messages may have (default: no limit). Each message, block and tool call
    /// counts as 64 bytes more. The newest whole turns that fit are kept, and this turn in any case: it alone may be longer.
    ///
    /// A turn is a prompt and everything up to the next one, so no tool call is separated from its result.
    #[build(name = byte_limit)]
    limit: usize,
}

impl PendingMessages {
    async fn read(self) -> Result<Vec<Message>, TurnError> {
        let merged = async {
            let mut updates = self.turn.stored_updates().await?;
            let mut merge = Merge::new(self.limit);
            while let Some(update) = updates.try_next().await? {
                merge.add(update);
            }
            Ok(merge.finish())
        };
        self.turn.unless_cancelled(merged).await?
    }
}

impl IntoFuture for PendingMessages {
    type Output = Result<Vec<Message>, TurnError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.read().boxed()
    }
}

impl fmt::Debug for PendingMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingMessages").field("byte_limit", &self.limit).finish_non_exhaustive()
    }
}
