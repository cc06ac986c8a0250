//! `agentwire call`: calls a tool of an MCP server, and asks the user the server's questions.

mod answers;
mod deadline;
mod questions;
mod reports;
mod typed;

use std::future::IntoFuture as _;
use std::pin::pin;
use std::time::Duration;

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_client::schema::CallToolResult;
use agentwire_mcp_client::{BoxError, CallError, Client, RemoteServer, Tasks};
use anyhow::Result;
use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::deadline::Deadline;
use self::questions::{Question, Responder};
use self::reports::Report;
use self::typed::typed;
use crate::connect::{Output, overdue, with_server_since};
use crate::content::Printer;
use crate::failure::{Exit, Failure, Interrupted, ToolFailed, Usage, to_anyhow};
use crate::mcp::arguments::Call;
use crate::output::{Member, print_json};
use crate::pretty::pretty;
use crate::text::{self, Notes};
use crate::tools::{find, no_such_tool};
use crate::words::Arguments;

/// How long the list of tools may take that explains a failed call: 10 s.
const EXPLAIN_LIMIT: Duration = Duration::from_secs(10);

/// Calls a tool and prints its result.
pub(crate) async fn run(arguments: Call, output: Output<'_>) -> Result<()> {
    let Output { json, notes, .. } = output;
    let notes = notes.clone();
    let Call { connect, words, answers, save, .. } = arguments;
    let (tool, words) = words.split_first().ok_or_else(|| Usage("TOOL is missing".into()))?;
    let arguments = Arguments::read(words)?;
    let mut printer = Printer::new(json, save)?;
    let limit = connect.timeout;
    let user = Responder::find(json, &notes, answers);
    let (add_handlers, questions) = questions::channel();
    let prepare = |client: Client| add_handlers(client).tasks(Tasks::new());
    with_server_since(connect, output, prepare, async |server, since| {
        user.set_asker(&server.info().name);
        let is_empty = matches!(&arguments, Arguments::Members(words) if words.is_empty());
        let object = match arguments {
            Arguments::Object(object) => object,
            // What is missing is explained if the call fails.
            Arguments::Members(words) if words.is_empty() => RawJson::EMPTY_OBJECT,
            Arguments::Members(words) => {
                // Each page of the list may take the whole limit.
                let listed = tokio::select! {
                    listed = find(&server, tool) => listed?,
                    overdue = overdue(since, limit) => return Err(overdue.into()),
                };
                typed(&listed, &words)?.into()
            }
        };
        let call = ToolCall {
            user: &user,
            questions,
            deadline: Deadline::new(limit, since),
            notes: notes.clone(),
            json,
        };
        let result = call.run(&server, tool, object).await;
        user.note_unused_answers(&notes);
        let result = match result {
            Ok(result) => result,
            Err(error) => return Err(explain(&server, tool, is_empty, error).await),
        };
        show_result(&result, json, &mut printer)?;
        if let Some(why) = user.wrong_answer() {
            return Err(Usage(why).into());
        }
        if user.has_declined() {
            // The tool may say that all went well, though it did not do what it asked about.
            let why = match result.is_error {
                true => {
                    "the tool failed, and nobody is at a terminal to answer its question; --answer NAME=VALUE answers a form"
                }
                false => {
                    "nobody is at a terminal to answer the question of the tool; --answer NAME=VALUE answers a form"
                }
            };
            return Err(Failure::new(Exit::NotPermitted, why).into());
        }
        if !result.is_error {
            return printer.finish().map_err(BoxError::from);
        }
        Err(explain(&server, tool, is_empty, ToolFailed.into()).await)
    })
    .await
}

/// Adds what the list of tools says to the failure of a call: that there is no such tool, or which argument is missing. The
/// failure stays as it is where the list cannot be read.
async fn explain(server: &RemoteServer, tool: &str, is_empty: bool, error: BoxError) -> BoxError {
    let has_failed = error.is::<ToolFailed>();
    let is_refused = error.downcast_ref().is_some_and(|error: &CallError| error.refusal().is_some());
    if !has_failed && !is_refused {
        return error;
    }
    let listed = tokio::time::timeout(EXPLAIN_LIMIT, server.tools().collect()).await;
    let Ok(Ok(tools)) = listed else { return error };
    let hint = match tools.iter().find(|listed| listed.name == tool) {
        None => no_such_tool(tool, &tools),
        Some(tool) => match typed(tool, &[]) {
            Err(Usage(why)) if is_empty && has_failed => format!("{ToolFailed}; {why}"),
            Err(Usage(why)) if is_empty => why,
            _ => return error,
        },
    };
    Failure::new(Exit::ToolFailed, to_anyhow(error).context(hint)).into()
}

/// A call while its tool runs.
struct ToolCall<'a> {
    user: &'a Responder,
    questions: mpsc::Receiver<Question>,
    deadline: Deadline,
    notes: Notes,
    json: bool,
}

impl ToolCall<'_> {
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

/// Prints a result: its content, or its structured content where that has no text.
fn show_result(result: &CallToolResult, json: bool, printer: &mut Printer) -> Result<()> {
    if json {
        print_json(&Member("result", result))?;
    }
    printer.blocks(&result.content)?;
    let has_text = result.content.iter().any(|block| block.as_text().is_some());
    match &result.structured_content {
        Some(structured) if !json && !has_text => Ok(text::print(&pretty(structured.as_str()))?),
        _ => Ok(()),
    }
}
