//! The tools of a server that the checks call: those that the profile names, and others if they declare that they change nothing.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::mcp_server::Server;
use crate::mcp_server::features::{List, entries};
use crate::verdict::{Outcome, Stop};

impl Server {
    /// A tool that answers at once: the profile's `echo`, or the first that needs no arguments and may be called.
    pub(crate) async fn any_tool(&self, conversation: &mut Conversation) -> Outcome<Value> {
        match self.tool("echo") {
            Ok(tool) => Ok(tool),
            Err(_) => self.tool_without_arguments(conversation, |_| true).await,
        }
    }

    /// The call of the first listed tool that a test accepts, that needs no arguments and may be called.
    pub(crate) async fn tool_without_arguments(
        &self,
        conversation: &mut Conversation,
        accept: impl Fn(&Value) -> bool,
    ) -> Outcome<Value> {
        let listed = entries(conversation, List::TOOLS).await.map_err(Stop::while_preparing)?;
        let is_simple = |tool: &&Value| {
            let required = tool.pointer("/inputSchema/required").and_then(Value::as_array);
            required.is_none_or(Vec::is_empty) && accept(tool)
        };
        let mut simple = listed.iter().filter(is_simple).peekable();
        if simple.peek().is_none() {
            return Err(Stop::not_applicable("no tool of this kind can be called without arguments"));
        }
        let allowed = simple.find(|tool| self.may_call(tool, &listed)).ok_or_else(uncallable)?;
        Ok(json!({"name": allowed["name"], "arguments": {}}))
    }

    /// Whether a listed tool may be called although the profile does not name it: each tool of its name declares that it changes
    /// nothing.
    pub(crate) fn may_call(&self, tool: &Value, listed: &[Value]) -> bool {
        let is_read_only =
            |tool: &Value| tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true));
        let mut same = listed.iter().filter(|other| other["name"] == tool["name"]);
        self.setting.call_any || same.all(is_read_only)
    }
}

/// A check needs to call a tool, and none may be called.
pub(crate) fn uncallable() -> Stop {
    Stop::not_applicable(
        "no suitable tool declares `readOnlyHint` or has a role in the profile (--call-any calls others too)",
    )
}
