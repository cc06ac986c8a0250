//! The facts about the server's tools that calls need, from its lists.

use std::collections::HashMap;

use agentwire_mcp_schema::{TaskSupport, Tool};
use agentwire_sync::Mutex;

/// How many tools are kept. A server that lists more names than that makes the client forget the earlier ones.
const MAX_TOOLS: usize = 10_000;

/// The facts about the server's tools, from its lists.
#[derive(Debug, Default)]
pub(crate) struct Tools(Mutex<HashMap<String, ToolFacts>>);

/// A list's facts about one tool.
#[derive(Debug)]
struct ToolFacts {
    /// Its support of tasks, in 2025-11-25.
    task_support: TaskSupport,
    /// Whether it is read-only or idempotent.
    is_idempotent: bool,
}

impl Tools {
    /// Keeps a list's facts about a tool.
    pub(crate) fn learn(&self, tool: &Tool) {
        let task_support = tool.execution.as_ref().and_then(|execution| execution.task_support.clone());
        let is_idempotent = tool.annotations.as_ref().is_some_and(|annotations| {
            annotations.read_only_hint == Some(true) || annotations.idempotent_hint == Some(true)
        });
        let facts = ToolFacts { task_support: task_support.unwrap_or(TaskSupport::Forbidden), is_idempotent };
        let mut tools = self.0.lock();
        if tools.len() >= MAX_TOOLS && !tools.contains_key(&tool.name) {
            tools.clear();
        }
        tools.insert(tool.name.clone(), facts);
    }

    /// Returns `None` for a tool that was not listed.
    pub(crate) fn task_support(&self, tool: &str) -> Option<TaskSupport> {
        self.0.lock().get(tool).map(|facts| facts.task_support.clone())
    }

    /// Whether the tool was listed as read-only or idempotent.
    pub(crate) fn is_idempotent(&self, tool: &str) -> bool {
        self.0.lock().get(tool).is_some_and(|facts| facts.is_idempotent)
    }

    /// Forgets everything, because the tools have changed.
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }
}
