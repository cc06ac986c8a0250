use std::collections::HashMap;

use agentwire_mcp_schema::{TaskSupport, Tool};
use agentwire_sync::Mutex;

/// How many tools are known at once: whoever lists more names than that without end fills no memory.
const MOST_TOOLS: usize = 10_000;

/// Which of the tools that were listed can run as tasks, in 2025-11-25.
#[derive(Debug, Default)]
pub(crate) struct Supports(Mutex<HashMap<String, TaskSupport>>);

impl Supports {
    /// Takes what a list says of a tool.
    pub(crate) fn learn(&self, tool: &Tool) {
        let said = tool.execution.as_ref().and_then(|execution| execution.task_support.clone());
        let mut tools = self.0.lock();
        if tools.len() >= MOST_TOOLS && !tools.contains_key(&tool.name) {
            tools.clear();
        }
        tools.insert(tool.name.clone(), said.unwrap_or(TaskSupport::Forbidden));
    }

    /// None for a tool that was not listed.
    pub(crate) fn of(&self, tool: &str) -> Option<TaskSupport> {
        self.0.lock().get(tool).cloned()
    }

    /// The tools are others now.
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }
}
