//! `agentwire call`: calls a tool of an MCP server, and asks the user the server's questions.

mod kinds;
mod reports;
mod task;
mod typed;

use std::time::Duration;

use agentwire_jsonrpc::{RawJson, RequestMethod as _};
use agentwire_mcp_client::schema::{CallToolRequest, CallToolResult, ContentBlock};
use agentwire_mcp_client::{BoxError, CallError, RemoteServer};
use anyhow::Result;
use futures_util::FutureExt as _;
use serde_json::Value;

use self::reports::Report;
use self::task::LastTask;
use self::typed::typed;
use crate::arguments::words::{Arguments, is_argument};
use crate::connect::{Output, with_questions};
use crate::content::Printer;
use crate::failure::{AlreadyPrinted, Exit, Failure, Interrupted, Overdue, ToolFailed, Usage, to_anyhow};
use crate::mcp::arguments::{Call, unquoted};
use crate::output::pretty::pretty;
use crate::output::text;
use crate::output::text::Notes;
use crate::output::{Member, print_json};
use crate::questions::Questions;
use crate::tools::{find, no_such_tool};

/// The timeout for the list of tools with which a failed call is explained: 10 s.
const EXPLAIN_LIMIT: Duration = Duration::from_secs(10);

/// The most bytes of structured content and its texts together that are compared: 1 MiB.
const COMPARED_LIMIT: usize = 1 << 20;

/// The most texts of a result that are compared with all of its structured content. A result may have 500,000 texts.
const COMPARED_TEXTS: usize = 16;

/// Calls a tool and prints its result.
pub(crate) async fn run(arguments: Call, output: Output<'_>) -> Result<()> {
    let Output { json, notes, .. } = output;
    let notes = notes.clone();
    let Call { connect, words, save, .. } = arguments;
    let (tool, words) = words.split_first().ok_or_else(|| Usage("TOOL is missing".into()))?;
    let arguments = Arguments::read(words).map_err(|Usage(why)| match connect.bare_program() {
        Some(program) if !words.iter().all(|word| is_argument(word)) => {
            Usage(format!("{why}; {}", unquoted(program)))
        }
        _ => Usage(why),
    })?;
    let mut printer = Printer::new(json, save)?;
    with_questions(connect, output, async |server, questions| {
        let is_empty = matches!(&arguments, Arguments::Members(words) if words.is_empty());
        let object = match &arguments {
            Arguments::Object(object) => object.clone(),
            // If the call fails, `explain` names the missing arguments.
            Arguments::Members(words) if words.is_empty() => RawJson::EMPTY_OBJECT,
            Arguments::Members(words) => {
                let listed = questions.answer_during(find(&server, tool)).await?;
                typed(&listed, words)?.into()
            }
        };
        let result = match call(&server, tool, object, questions, &notes, json).await {
            Ok(result) => {
                show_result(&result, json, &notes, &mut printer)?;
                if result.is_error { Err(ToolFailed.into()) } else { Ok(()) }
            }
            Err(error) => Err(error),
        };
        let result = match questions.outcome(result, "the tool had already been called") {
            Ok(()) => return printer.finish(),
            Err(error) => error,
        };
        tokio::select! {
            error = explain(&server, tool, is_empty, result) => Err(error),
            interrupted = questions.signals.interrupted() => Err(interrupted.into()),
        }
    })
    .await
}

/// Adds facts from the list of tools to the failure of a call: that there is no such tool, or which argument is missing. The
/// failure stays as it is where the list cannot be read.
async fn explain(server: &RemoteServer, tool: &str, is_empty: bool, error: BoxError) -> BoxError {
    let has_failed = error.is::<ToolFailed>();
    let is_refused = error.downcast_ref().is_some_and(|error: &CallError| error.refusal().is_some());
    if !has_failed && !is_refused {
        return error;
    }
    let listed = tokio::time::timeout(EXPLAIN_LIMIT, server.tools().collect()).await;
    let Ok(Ok(tools)) = listed else { return error };
    let (exit, hint) = match tools.iter().find(|listed| listed.name == tool) {
        // The result is printed already. The exit code for a failed tool would be wrong for a tool that does not exist.
        None if has_failed => {
            let missing = AlreadyPrinted(Usage(no_such_tool(tool, &tools)).into());
            return Failure::new(Exit::Usage, missing).into();
        }
        None => (Exit::Usage, no_such_tool(tool, &tools)),
        Some(tool) => match typed(tool, &[]) {
            Err(Usage(why)) if is_empty && has_failed => (Exit::ToolFailed, format!("{ToolFailed}; {why}")),
            Err(Usage(why)) if is_empty => (Exit::Usage, why),
            _ => return error,
        },
    };
    Failure::new(exit, to_anyhow(error).context(hint)).into()
}

/// Makes the call, shows the reports on it, and answers the server's questions.
async fn call(
    server: &RemoteServer,
    tool: &str,
    arguments: RawJson,
    questions: &mut Questions,
    notes: &Notes,
    json: bool,
) -> Result<CallToolResult, BoxError> {
    let (report, mut reports) = reports::channel(json);
    let (task_report, last_task) = (report.clone(), LastTask::default());
    let task = last_task.clone();
    // Reports are queued, so that slow output does not slow the server down.
    let call = server
        .call_tool(tool, arguments)
        .progress_maximum(None)
        .on_progress(move |progress| report.add(Report::Progress(progress)))
        .on_task(move |state| {
            task.set(state);
            task_report.add(Report::task(state));
        });
    let call = async { Ok(call.await?) };
    let mut task_line = None;
    let report = async || match reports.recv().await {
        Some(report) => report.show(&mut task_line, notes, json),
        None => std::future::pending().await,
    };
    // An interrupt drops the call, which asks the server to cancel it.
    let result = questions.answer_and_report(call, report).await;
    while let Some(report) = reports.recv().now_or_never().flatten() {
        report.show(&mut task_line, notes, json)?;
    }
    let Err(error) = result else { return result };
    let error = match error.downcast::<Overdue>() {
        Ok(overdue) => CallError::timed_out(CallToolRequest::NAME, overdue.0).into(),
        Err(error) if error.is::<Interrupted>() => error,
        Err(error) => return Err(error),
    };
    last_task.note_end(server, notes).await;
    Err(error)
}

/// Prints the content of a result, or its structured content if there is no other. Structured content beside other content is
/// left out. A note reports that unless a text repeats it, as the specification recommends.
fn show_result(
    result: &CallToolResult,
    json: bool,
    notes: &Notes,
    printer: &mut Printer,
) -> Result<(), BoxError> {
    if json {
        print_json(&Member("result", result))?;
    }
    printer.blocks(&result.content)?;
    match &result.structured_content {
        Some(structured) if !json && result.content.is_empty() => {
            Ok(text::print(&pretty(structured.as_str()))?)
        }
        Some(structured) if !json && !is_repeated(structured, result) => {
            let bytes = structured.as_str().len();
            notes.add(&format!("[structured content of {bytes} bytes is left out; --json shows it]"));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether the texts of the content repeat the structured content as JSON. Some servers wrap a value that is not an object in
/// an object with one member. Then one text may repeat the value of that member, or each text an element of a list.
fn is_repeated(structured: &RawJson, result: &CallToolResult) -> bool {
    let texts: Vec<&str> = result.content.iter().filter_map(ContentBlock::as_text).collect();
    let length = structured.as_str().len() + texts.iter().map(|text| text.len()).sum::<usize>();
    if length > COMPARED_LIMIT {
        return false;
    }
    let Ok(structured) = structured.decode::<Value>() else { return false };
    // Numbers are compared by value: 1.0 equals 1.
    let is_json = |value: &Value, text: &str| {
        Some(RawJson::encode(value).ok()? == RawJson::parse(text.to_owned().into()).ok()?)
    };
    let is_same =
        |value: &Value, text: &str| value.as_str() == Some(text) || is_json(value, text) == Some(true);
    let only = structured.as_object().filter(|members| members.len() == 1);
    let only = only.and_then(|members| members.values().next());
    let elements = only.and_then(Value::as_array).filter(|elements| elements.len() == texts.len());
    let mut first = texts.iter().take(COMPARED_TEXTS);
    first.any(|text| is_same(&structured, text) || only.is_some_and(|only| is_same(only, text)))
        || elements
            .is_some_and(|elements| elements.iter().zip(&texts).all(|(value, text)| is_same(value, text)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_repeats_structured_content_as_json_or_as_its_only_member() {
        let is_repeated = |texts: &[&str], structured: Value| {
            let content: Vec<_> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
            let result = json!({ "content": content, "structuredContent": structured });
            let result: CallToolResult = serde_json::from_value(result).unwrap();
            super::is_repeated(result.structured_content.as_ref().unwrap(), &result)
        };
        assert!(is_repeated(&["{ \"a\": 1, \"b\": 2 }"], json!({ "b": 2, "a": 1 })));
        assert!(is_repeated(&["found:", "{\"a\":1}"], json!({ "a": 1 })));
        assert!(is_repeated(&["42"], json!({ "result": 42 })));
        assert!(is_repeated(&["yes"], json!({ "result": "yes" })));
        assert!(is_repeated(&["a", "b"], json!({ "result": ["a", "b"] })));
        assert!(is_repeated(&["{\"a\": 1.0}"], json!({ "a": 1 })));
        assert!(!is_repeated(&["{\"a\": 1.5}"], json!({ "a": 1 })));
        assert!(!is_repeated(&["The sum is 42."], json!({ "sum": 42 })));
        assert!(!is_repeated(&["a", "c"], json!({ "result": ["a", "b"] })));
        assert!(!is_repeated(&[], json!({ "a": 1 })));
        let long = "x".repeat(COMPARED_LIMIT);
        assert!(!is_repeated(&[&long], json!({ "result": long })), "a long one is not compared");
        let texts = [&["x"; COMPARED_TEXTS][..], &["{\"a\":1}"]].concat();
        assert!(!is_repeated(&texts, json!({ "a": 1 })), "nor are many");
    }
}
