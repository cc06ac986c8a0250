//! What the agent does to the world: each as a tool call that the client can follow.

use std::path::Path;

use agentwire_acp_agent::{CallError, Error};
use agentwire_acp_schema::v1::{
    Content, CreateTerminalRequest, Diff, KillTerminalRequest, PermissionOption, PermissionOptionKind,
    ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionOutcome, RequestPermissionRequest,
    SessionUpdate, Terminal, TerminalId, TerminalOutputRequest, ToolCall, ToolCallContent, ToolCallId,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind, WaitForTerminalExitRequest,
    WriteTextFileRequest,
};
use serde_json::{Map, Value};

use super::session::Progress;
use super::turn::Turn;

/// How much output of a command is asked for.
const OUTPUT_LIMIT: u64 = 256 << 10;

impl Turn<'_> {
    /// `/read`: reads a file as the editor has it.
    pub(super) async fn read(&self, path: &Path) -> Result<(), Error> {
        let title = format!("Read {}", path.display());
        let place = ToolCallLocation::new(path);
        let id = self.begin(&title, ToolKind::Read, |call| call.locations([place])).await?;
        if !self.permitted(&id, &title).await? {
            return Ok(());
        }
        let request = ReadTextFileRequest::new(&self.session.id, path);
        let outcome = self.client().read_text_file(request).await;
        self.finish(id, outcome.map(|file| vec![Content::from(file.content).into()])).await
    }

    /// `/write`: writes a file through the editor.
    pub(super) async fn write(&self, path: &Path, text: String) -> Result<(), Error> {
        let diff = ToolCallContent::from(Diff::new(path, text.clone()));
        let title = format!("Write {}", path.display());
        let id = self
            .begin(&title, ToolKind::Edit, |call| {
                call.locations([ToolCallLocation::new(path)]).content([diff.clone()])
            })
            .await?;
        if !self.permitted(&id, &title).await? {
            return Ok(());
        }
        let request = WriteTextFileRequest::new(&self.session.id, path, text);
        let outcome = self.client().write_text_file(request).await;
        self.finish(id, outcome.map(|_| vec![diff])).await
    }

    /// `/run`: runs a command in a terminal of the editor's, and gives the terminal back whatever happens.
    pub(super) async fn run_command(&self, command: &str) -> Result<(), Error> {
        let title = format!("Run {command}");
        let id = self.begin(&title, ToolKind::Execute, |call| call).await?;
        if !self.permitted(&id, &title).await? {
            return Ok(());
        }
        let request = CreateTerminalRequest::new(&self.session.id, "sh")
            .args(["-c", command])
            .cwd(&self.session.cwd)
            .output_byte_limit(OUTPUT_LIMIT);
        let terminal = match self.client().create_terminal(request).await {
            Ok(created) => created.terminal_id,
            Err(error) => return self.finish(id, Err(error)).await,
        };
        let shown = ToolCallContent::from(Terminal::new(terminal.clone()));
        self.update(SessionUpdate::from(ToolCallUpdate::new(id.clone()).content([shown.clone()]))).await?;
        let outcome = self.attend(&terminal).await;
        // What was shown of the terminal stays on the screen; the terminal itself is not needed any more.
        let release = ReleaseTerminalRequest::new(&self.session.id, terminal);
        let released = self.client().release_terminal(release).await;
        let outcome = outcome.and_then(|ended| released.map(|_| ended));
        match outcome {
            Ok((true, output)) => self.finish(id, Ok(vec![shown, Content::from(output).into()])).await,
            Ok((false, output)) => self.fail(id, vec![shown, Content::from(output).into()]).await,
            Err(error) => self.finish(id, Err(error)).await,
        }
    }

    /// Waits for a command to end, or ends it when the turn is cancelled. Whether it went well, and what it
    /// printed.
    async fn attend(&self, terminal: &TerminalId) -> Result<(bool, String), CallError> {
        let session = &self.session.id;
        let wait = self.client().wait_for_terminal_exit(WaitForTerminalExitRequest::new(session, terminal));
        tokio::select! {
            exit = wait => {
                let exit = exit?;
                let output = self.client().terminal_output(TerminalOutputRequest::new(session, terminal)).await?;
                let mut text = output.output;
                let went_well = exit.exit_code == Some(0);
                if !went_well {
                    match (exit.exit_code, exit.signal) {
                        (_, Some(signal)) => text.push_str(&format!("\n[ended by {signal}]")),
                        (Some(code), _) => text.push_str(&format!("\n[exit code {code}]")),
                        (None, None) => {}
                    }
                }
                Ok((went_well, text))
            }
            () = self.context.cancelled() => {
                self.client().kill_terminal(KillTerminalRequest::new(session, terminal)).await?;
                Ok((false, "[cancelled]".into()))
            }
        }
    }

    /// `/call`: calls a tool of one of the session's MCP servers.
    pub(super) async fn call_tool(
        &self,
        tool: &str,
        arguments: Option<Map<String, Value>>,
    ) -> Result<(), Error> {
        let arguments = arguments.unwrap_or_default();
        let id = self
            .begin(tool, ToolKind::Other, |call| {
                call.name(tool).raw_input(Value::Object(arguments.clone())).status(ToolCallStatus::InProgress)
            })
            .await?;
        let mut call = self.session.call(tool, arguments);
        let outcome = loop {
            tokio::select! {
                progress = call.next() => match progress {
                    Progress::Report(text) => {
                        let content = ToolCallContent::from(Content::from(text));
                        self.update(SessionUpdate::from(ToolCallUpdate::new(id.clone()).content([content]))).await?;
                    }
                    Progress::Done(outcome) => break outcome,
                },
                () = self.context.cancelled() => {
                    drop(call);
                    return self.fail(id, vec![Content::from("cancelled").into()]).await;
                }
            }
        };
        self.tell_failures().await?;
        match outcome {
            Ok(result) if result.is_error => self.fail(id, result.content).await,
            Ok(result) => {
                let done = ToolCallUpdate::new(id)
                    .status(ToolCallStatus::Completed)
                    .content(result.content)
                    .raw_output(result.raw);
                Ok(self.update(SessionUpdate::from(done)).await?)
            }
            Err(error) => self.fail(id, vec![Content::from(error).into()]).await,
        }
    }

    /// Announces a tool call.
    async fn begin(
        &self,
        title: &str,
        kind: ToolKind,
        details: impl FnOnce(ToolCall) -> ToolCall,
    ) -> Result<ToolCallId, CallError> {
        let id = self.session.next_tool_call();
        let call = details(ToolCall::new(id.clone(), title).kind(kind));
        self.update(SessionUpdate::from(call)).await?;
        Ok(id)
    }

    /// Asks the user. A tool call that is not permitted has failed.
    async fn permitted(&self, id: &ToolCallId, title: &str) -> Result<bool, Error> {
        let options = vec![
            PermissionOption::new("allow", "Allow", PermissionOptionKind::AllowOnce),
            PermissionOption::new("reject", "Reject", PermissionOptionKind::RejectOnce),
        ];
        let subject = ToolCallUpdate::new(id.clone()).title(title);
        let request = RequestPermissionRequest::new(&self.session.id, subject, options);
        let answer = tokio::select! {
            answer = self.client().request_permission(request) => answer?,
            () = self.context.cancelled() => {
                self.fail(id.clone(), vec![Content::from("cancelled").into()]).await?;
                return Ok(false);
            }
        };
        let allowed = matches!(&answer.outcome, RequestPermissionOutcome::Selected(selected) if &*selected.option_id.to_string() == "allow");
        if allowed {
            let started = ToolCallUpdate::new(id.clone()).status(ToolCallStatus::InProgress);
            self.update(SessionUpdate::from(started)).await?;
        } else {
            self.fail(id.clone(), vec![Content::from("This was not permitted.").into()]).await?;
        }
        Ok(allowed)
    }

    /// Ends a tool call as its outcome says.
    async fn finish(
        &self,
        id: ToolCallId,
        outcome: Result<Vec<ToolCallContent>, CallError>,
    ) -> Result<(), Error> {
        match outcome {
            Ok(content) => {
                let done = ToolCallUpdate::new(id).status(ToolCallStatus::Completed).content(content);
                Ok(self.update(SessionUpdate::from(done)).await?)
            }
            Err(CallError::Closed(closed)) => Err(closed.into()),
            Err(error) => self.fail(id, vec![Content::from(error.to_string()).into()]).await,
        }
    }

    async fn fail(&self, id: ToolCallId, content: Vec<ToolCallContent>) -> Result<(), Error> {
        let failed = ToolCallUpdate::new(id).status(ToolCallStatus::Failed).content(content);
        Ok(self.update(SessionUpdate::from(failed)).await?)
    }
}
