//! `agentwire call`: calls a tool of an MCP server, and asks the user the server's questions.

mod deadline;
mod questions;
mod reports;

use std::future::IntoFuture as _;
use std::io;
use std::pin::pin;

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_client::schema::{CallToolResult, ContentBlock};
use agentwire_mcp_client::{BoxError, Client, RemoteServer, Tasks};
use agentwire_recording::Recorder;
use anyhow::Result;
use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::deadline::Deadline;
use self::questions::{Question, Responder};
use self::reports::Report;
use crate::arguments::Call;
use crate::connect::{Output, with_server_since};
use crate::failure::{Interrupted, ToolFailed};
use crate::output::{Member, print_json};
use crate::text::{self, Notes};

/// Calls a tool and prints its result.
pub(crate) async fn run(
    arguments: Call,
    json: bool,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<()> {
    let Call { connect, tool, arguments } = arguments;
    let limit = connect.timeout;
    let user = Responder::find(json, notes);
    let (add_handlers, questions) = questions::channel();
    let prepare = |client: Client| add_handlers(client).tasks(Tasks::new());
    let output = Output { json, notes, recorder };
    with_server_since(connect, output, prepare, async move |server, since| {
        user.set_asker(&server.info().name);
        let notes = notes.clone();
        let call = ToolCall { user, questions, deadline: Deadline::new(limit, since), notes, json };
        let result = call.run(&server, &tool, arguments.unwrap_or(RawJson::EMPTY_OBJECT)).await?;
        show_result(&result, json)?;
        if result.is_error { Err(ToolFailed.into()) } else { Ok(()) }
    })
    .await
}

/// A call while its tool runs.
struct ToolCall {
    user: Responder,
    questions: mpsc::Receiver<Question>,
    deadline: Deadline,
    notes: Notes,
    json: bool,
}

impl ToolCall {
    async fn run(
        mut self,
        server: &RemoteServer,
        tool: &str,
        arguments: RawJson,
    ) -> Result<CallToolResult, BoxError> {
        let json = self.json;
        let (report, mut reports) = reports::channel(json);
        let task_report = report.clone();
        // Reports are queued, so that slow output does not slow the server down. The call itself has no timeout: the deadline
        // excludes the time in which the user answers.
        let call = server
            .call_tool(tool, arguments)
            .timeout(None)
            .progress_maximum(None)
            .on_progress(move |progress| report.add(Report::Progress(progress)))
            .on_task(move |state| task_report.add(Report::task(state)));
        let mut call = pin!(call.into_future());
        let mut task_line = None;
        let result = loop {
            tokio::select! {
                biased;
                // First, so that no question is shown after ^C.
                () = self.user.interrupts() => return Err(Interrupted::BY_KEY.into()),
                Some(report) = reports.recv() => {
                    self.deadline.renew();
                    report.show(&mut task_line, &self.notes, json)?;
                    self.deadline.check()?;
                }
                Some(question) = self.questions.recv() => {
                    // Reports wait while a question is open. The call goes on; its end withdraws the question.
                    let since = Instant::now();
                    tokio::select! {
                        biased;
                        () = self.user.answer(question) => self.deadline.exclude(since),
                        result = &mut call => {
                            self.user.question_withdrawn().await;
                            break result?;
                        }
                    }
                }
                result = &mut call => break result?,
                error = self.deadline.expired() => return Err(error.into()),
            }
        };
        while let Some(report) = reports.recv().now_or_never().flatten() {
            report.show(&mut task_line, &self.notes, json)?;
        }
        Ok(result)
    }
}

fn show_result(result: &CallToolResult, json: bool) -> io::Result<()> {
    if json {
        return print_json(&Member("result", result));
    }
    for block in &result.content {
        match block {
            ContentBlock::Text(content) => text::print(&content.text)?,
            ContentBlock::Image(image) => text::print_line(&format!("[an image, {}]", image.mime_type))?,
            ContentBlock::Audio(audio) => text::print_line(&format!("[a sound, {}]", audio.mime_type))?,
            ContentBlock::ResourceLink(link) => text::print_line(&format!("[{}]({})", link.name, link.uri))?,
            other => print_json(other)?,
        }
    }
    Ok(())
}
