//! What the agent does to the world: each as a tool call that the client can follow.

use std::path::{Path, PathBuf};

use agentwire_acp_sessions::schema::{
    Content, CreateTerminalRequest, Diff, Terminal, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation,
    ToolCallStatus, ToolCallUpdate, ToolKind, WaitForTerminalExitResponse,
};
use agentwire_acp_sessions::{PermissionPolicy, TurnError};
use agentwire_jsonrpc::RawJson;

use super::offer;
use super::turn::Work;

/// How much output of a command is asked for.
const OUTPUT_LIMIT: u64 = 256 << 10;

/// How a tool call ended, and what there is to show of it.
type Done = (ToolCallStatus, Vec<ToolCallContent>);

impl Work<'_> {
    /// `/read`: reads a file as the editor has it.
    pub(super) async fn read(&self, path: &Path) -> Result<(), TurnError> {
        let path = self.absolute(path);
        let call = self.tool_call(&format!("Read {}", path.display()), ToolKind::Read);
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
        let call = call.locations([ToolCallLocation::new(&path)]).content([diff.clone()]);
        self.act(call, async |_| {
            self.turn.write_text_file(&path, text).await?;
            Ok((ToolCallStatus::Completed, vec![diff]))
        })
        .await
    }

    /// `/run`: runs a command in a terminal of the editor's.
    pub(super) async fn run_command(&self, command: &str) -> Result<(), TurnError> {
        let call = self.tool_call(&format!("Run {command}"), ToolKind::Execute);
        self.act(call, async |id| {
            let request = CreateTerminalRequest::new(self.turn.session_id(), "sh")
                .args(["-c", command])
                .output_byte_limit(OUTPUT_LIMIT);
            let terminal = self.turn.terminal(request).await?;
            let shown = ToolCallContent::from(Terminal::new(terminal.id().clone()));
            self.turn.update(ToolCallUpdate::new(id).content([shown.clone()])).await?;
            let exit = terminal.wait().await?;
            let output = terminal.output().await?.output;
            // What was shown of the terminal stays on the screen; the terminal itself is not needed any more.
            terminal.release().await?;
            let (status, ending) = describe(&exit);
            Ok((status, vec![shown, Content::from(output + &ending).into()]))
        })
        .await
    }

    /// `/call`: calls a tool of one of the session's MCP servers.
    pub(super) async fn call_tool(&self, tool: &str, arguments: RawJson) -> Result<(), TurnError> {
        let policy =
            if offer::asks_for_calls(self.turn) { PermissionPolicy::Ask } else { PermissionPolicy::Allow };
        match self.turn.call_tool(tool, arguments).permissions(policy).await {
            Err(error @ (TurnError::Over | TurnError::Store(_))) => Err(error),
            // The client has been shown how it ended.
            _ => self.report_failures().await,
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
        work: impl AsyncFnOnce(ToolCallId) -> Result<Done, TurnError>,
    ) -> Result<(), TurnError> {
        let id = call.tool_call_id.clone();
        // An "always" is for just this: another command or path is asked for again.
        let scope = call.title.clone();
        let subject = ToolCallUpdate::new(id.clone()).title(call.title.clone()).kind(call.kind.clone());
        self.turn.update(call).await?;
        let outcome = async {
            if offer::asks(self.turn) && !self.turn.permits(&scope, subject).await? {
                return Ok((ToolCallStatus::Failed, vec![Content::from("This was not permitted.").into()]));
            }
            self.turn.update(ToolCallUpdate::new(id.clone()).status(ToolCallStatus::InProgress)).await?;
            work(id.clone()).await
        };
        let ended = ToolCallUpdate::new(id.clone());
        let ended = match outcome.await {
            Ok((status, content)) => ended.status(status).content(content),
            Err(error @ (TurnError::Over | TurnError::Store(_))) => return Err(error),
            // What it has shown so far stays.
            Err(TurnError::Cancelled) => ended.status(ToolCallStatus::Failed),
            Err(error) => ended.status(ToolCallStatus::Failed).content([Content::from(error.to_string())]),
        };
        // The client must see that it has ended, however much there is to show.
        self.turn.update_shortened(ended).await
    }
}

/// How a command ended: whether that is well, and in words where it is not.
fn describe(exit: &WaitForTerminalExitResponse) -> (ToolCallStatus, String) {
    match (exit.exit_code, &exit.signal) {
        (Some(0), _) => (ToolCallStatus::Completed, String::new()),
        (_, Some(signal)) => (ToolCallStatus::Failed, format!("\n[ended by {signal}]")),
        (Some(code), None) => (ToolCallStatus::Failed, format!("\n[exit code {code}]")),
        (None, None) => (ToolCallStatus::Failed, String::new()),
    }
}
