//! `agentwire complete`: completes an argument of a prompt or of a resource template.

use std::collections::BTreeMap;
use std::io;

use agentwire_mcp_client::schema::{
    CompleteRequest, CompleteResult, CompletionArgument, CompletionContext, CompletionReference,
    PromptReference, ResourceTemplateReference,
};
use anyhow::Result;

use super::arguments::Complete;
use crate::arguments::values::NamedValue;
use crate::connect::{Output, with_server};
use crate::failure::Usage;
use crate::output::text;
use crate::output::text::Notes;
use crate::output::{Member, print_json};

/// Prints the values, one a line.
pub(crate) async fn complete(arguments: Complete, output: Output<'_>) -> Result<()> {
    let (json, notes) = (output.json, output.notes);
    let Complete { connect, words, .. } = arguments;
    let request = request(&words)?;
    with_server(connect, output, async |server| {
        Ok(show(&server.complete(request.clone()).await?, json, notes)?)
    })
    .await
}

fn show(result: &CompleteResult, json: bool, notes: &Notes) -> io::Result<()> {
    if json {
        return print_json(&Member("result", result));
    }
    let completion = &result.completion;
    for value in &completion.values {
        text::print_line(value)?;
    }
    let shown = completion.values.len() as u64;
    match completion.total {
        Some(total) if total > shown => notes.add(&format!("[{} more]", total - shown)),
        _ if completion.has_more => notes.add("[there are more]"),
        _ => {}
    }
    Ok(())
}

fn request(words: &[String]) -> Result<CompleteRequest, Usage> {
    let [reference, argument, value, known @ ..] = words else {
        return Err(Usage("PROMPT or URI, ARGUMENT and VALUE are needed".into()));
    };
    // A prompt's name usually has neither. Completions of one that does are available through `request`.
    let reference: CompletionReference = if reference.contains("://") || reference.contains('{') {
        ResourceTemplateReference::new(reference).into()
    } else {
        PromptReference::new(reference).into()
    };
    let known =
        known.iter().map(|word| word.parse::<NamedValue>().map(|NamedValue { id, value }| (id, value)));
    let known = known.collect::<Result<BTreeMap<_, _>, _>>().map_err(Usage)?;
    let request = CompleteRequest::new(reference, CompletionArgument::new(argument, value));
    Ok(if known.is_empty() {
        request
    } else {
        request.context(CompletionContext::default().arguments(known))
    })
}
