//! The commands that use files, terminals and MCP tools. The client sees each as a tool call.

use std::path::{Path, PathBuf};

use agentwire_acp_sessions::schema::{
    Content, CreateTerminalRequest, Diff, Terminal, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation,
    ToolCallStatus, ToolCallUpdate, ToolKind, WaitForTerminalExitResponse,
};
use agentwire_acp_sessions::{PermissionPolicy, TurnError};
use agentwire_jsonrpc::{RawJson, WithCauses};
use serde_json::json;

use super::settings;
use super::turn::DemoTurn;

/// How many bytes of a command's output the client keeps: 256 KiB.
const OUTPUT_LIMIT: u64 = 256 << 10;

/// The status and the content at the end of a tool call.
type ToolOutcome = (ToolCallStatus, Vec<ToolCallContent>);

impl DemoTurn<'_> {
    /// `/read`: reads a file as the editor has it.
    pub(super) async fn read(&self, path: &Path) -> Result<(), TurnError> {
        let path = self.absolute(path);
        let call = self.tool_call(&format!("Read {}", path.display()), ToolKind::Read);
        let call = call.raw_input(json!({ "path": path }));
        self.act(call.locations([ToolCallLocation::new(&path)]), async |_| {
            let text = self.turn.read_text_file(&path).await?;
            Ok((ToolCallStatus::Completed, vec![Content::from(text).into()]))
        })
        .await
    }

    /// `/write`: writes a file through the editor.
    pub(super) async fn write(&self, path: &Path, text: String) -> Result<(), TurnError> {
        let path = self.absolute(path);
        let diff = ToolCallContent::from(Diff::new(&path, text.clone()));
        let call = self.tool_call(&format!("Write {}", path.display()), ToolKind::Edit);
        // The raw input leaves the text out: the diff has it.
        let call = call.raw_input(json!({ "path": path }));
        let call = call.locations([ToolCallLocation::new(&path)]).content([diff.clone()]);
        self.act(call, async |_| {
            self.turn.write_text_file(&path, text).await?;
            Ok((ToolCallStatus::Completed, vec![diff]))
        })
        .await
    }

    /// `/run`: runs a command in a terminal of the editor.
    pub(super) async fn run_command(&self, command: &str) -> Result<(), TurnError> {
        let call = self.tool_call(&format!("Run {command}"), ToolKind::Execute);
        let call = call.raw_input(json!({ "command": command }));
        self.act(call, async |id| {
            let request = CreateTerminalRequest::new(self.turn.session_id(), "sh")
                .args(["-c", command])
                .output_byte_limit(OUTPUT_LIMIT);
            let terminal = self.turn.terminal(request).await?;
            let shown = ToolCallContent::from(Terminal::new(terminal.id().clone()));
            self.turn.update(ToolCallUpdate::new(id).content([shown.clone()])).await?;
            let exit = terminal.wait().await?;
            let output = terminal.output().await?.output;
            // The client keeps the output that it has shown.
            terminal.release().await?;
            let (status, ending) = exit_status(&exit);
            Ok((status, vec![shown, Content::from(output + &ending).into()]))
        })
        .await
    }

    /// `/call`: calls a tool of one of the session's MCP servers. The answer is the text of its result.
    pub(super) async fn call_tool(&self, tool: &str, arguments: RawJson) -> Result<(), TurnError> {
        let policy =
            if settings::asks_for_calls(self.turn) { PermissionPolicy::Ask } else { PermissionPolicy::Allow };
        match self.turn.call_tool(tool, arguments).permissions(policy).await {
            Err(error @ (TurnError::Ended | TurnError::Store(_))) => Err(error),
            // The tool call that the client sees has the error.
            Err(_) => self.report_failures().await,
            Ok(result) => {
                self.report_failures().await?;
                match result.text() {
                    text if text.is_empty() => self.say_shortened("The result has no text.").await,
                    text => self.say_shortened(&text).await,
                }
            }
        }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.turn.resolve(path).unwrap_or_else(|| self.turn.cwd().join(path))
    }

    fn tool_call(&self, title: &str, kind: ToolKind) -> ToolCall {
        ToolCall::new(self.turn.new_tool_call_id(), title).kind(kind)
    }

    /// Announces a tool call, asks for permission where the mode demands it, does the work, and sends its outcome.
    async fn act(
        &self,
        call: ToolCall,
        work: impl AsyncFnOnce(ToolCallId) -> Result<ToolOutcome, TurnError>,
    ) -> Result<(), TurnError> {
        let id = call.tool_call_id.clone();
        // An "always" holds for this command or path only.
        let scope = call.title.clone();
        let subject = ToolCallUpdate::new(id.clone());
        self.turn.update(call).await?;
        let outcome = async {
            if settings::asks_for_tools(self.turn) && !self.turn.permits(&scope, subject).await? {
                return Ok((ToolCallStatus::Failed, vec![Content::from("This was not permitted.").into()]));
            }
            self.turn.update(ToolCallUpdate::new(id.clone()).status(ToolCallStatus::InProgress)).await?;
            work(id.clone()).await
        };
        let ended = ToolCallUpdate::new(id.clone());
        let ended = match outcome.await {
            Ok((status, content)) => ended.status(status).content(content),
            Err(error @ (TurnError::Ended | TurnError::Store(_))) => return Err(error),
            // The content that was sent before stays.
            Err(TurnError::Cancelled) => ended.status(ToolCallStatus::Failed),
            Err(error) => ended
                .status(ToolCallStatus::Failed)
                .content([Content::from(WithCauses::new(&error).to_string())]),
        };
        // Shortened, so that the client sees the end even if the content is too large for a message.
        self.turn.update_shortened(ended).await
    }
}

/// The status of a command that has ended, and a text if it failed.
fn exit_status(exit: &WaitForTerminalExitResponse) -> (ToolCallStatus, String) {
    match (exit.exit_code, &exit.signal) {
        (Some(0), _) => (ToolCallStatus::Completed, String::new()),
        (_, Some(signal)) => (ToolCallStatus::Failed, format!("\n[ended by {signal}]")),
        (Some(code), None) => (ToolCallStatus::Failed, format!("\n[exit code {code}]")),
        (None, None) => (ToolCallStatus::Failed, String::new()),
    }
}
