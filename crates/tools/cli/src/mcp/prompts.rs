//! `agentwire prompts` and `agentwire prompt`: list prompts, and get one.

use std::collections::BTreeSet;

use agentwire_jsonrpc::{RawJson, RawObject, did_you_mean};
use agentwire_mcp_client::schema::{GetPromptRequest, GetPromptResult, Role};
use agentwire_mcp_client::{BoxError, CallError, RemoteServer};
use anyhow::Result;

use super::arguments::{Prompt, ServerOnly};
use super::lists::{prompt_line, prompt_signature};
use crate::arguments::words::{Arguments, Word, twice};
use crate::connect::{Output, with_server};
use crate::content::{self, Printer};
use crate::failure::{ErrorWithHint, Exit, Failure, Usage};
use crate::output::text;
use crate::output::text::quoted;
use crate::output::{Member, print_json};

/// Prints the prompts, one a line.
pub(crate) async fn prompts(arguments: ServerOnly, output: Output<'_>) -> Result<()> {
    let json = output.json;
    with_server(arguments.connect, output, async |server| {
        for prompt in server.prompts().collect().await? {
            if json { print_json(&prompt) } else { text::print_line(&prompt_line(&prompt)) }?;
        }
        Ok(())
    })
    .await
}

/// Prints the messages of a prompt.
pub(crate) async fn prompt(arguments: Prompt, output: Output<'_>) -> Result<()> {
    let json = output.json;
    let Prompt { connect, words, .. } = arguments;
    let (name, words) = words.split_first().ok_or_else(|| Usage("PROMPT is missing".into()))?;
    let request = request(name, Arguments::read(words)?)?;
    with_server(connect, output, async |server| match server.get_prompt(request.clone()).await {
        Ok(result) => show(&result, json),
        Err(error) => Err(explain(&server, &request, error).await),
    })
    .await
}

fn request(name: &str, arguments: Arguments) -> Result<GetPromptRequest, Usage> {
    let words = match arguments {
        Arguments::Object(object) => {
            vec![Word::Object(RawObject::try_from(object).map_err(|why| Usage(why.to_string()))?)]
        }
        Arguments::Members(words) => words,
    };
    let mut request = GetPromptRequest::new(name);
    // The names since the last object that has them.
    let mut seen = BTreeSet::new();
    for word in words {
        let (name, text) = match word {
            Word::Text { name, text, .. } => (name, text),
            Word::Json { name, value } => (name, text_of(&value)),
            Word::Object(object) => {
                for (name, value) in object.iter() {
                    seen.remove(&*name);
                    request = request.argument(name, text_of(&value));
                }
                continue;
            }
        };
        if !seen.insert(name.clone()) {
            return Err(twice(&name));
        }
        request = request.argument(name, text);
    }
    Ok(request)
}

/// A value as the text of a prompt's argument: the string itself, or the JSON of any other value.
fn text_of(value: &RawJson) -> String {
    value.decode::<String>().unwrap_or_else(|_| value.as_str().to_owned())
}

/// Adds facts from the list of prompts to an error: the nearest name, or the missing arguments.
async fn explain(server: &RemoteServer, request: &GetPromptRequest, error: CallError) -> BoxError {
    if error.refusal().is_none() {
        return error.into();
    }
    let Ok(prompts) = server.prompts().collect().await else { return error.into() };
    let hint = match prompts.iter().find(|prompt| prompt.name == request.name) {
        None => {
            let meant = did_you_mean(&request.name, prompts.iter().map(|prompt| &*prompt.name));
            format!("the server has no prompt {}{meant}", quoted(&request.name))
        }
        Some(prompt) => {
            let is_missing = |name: &str| !request.arguments.contains_key(name);
            let missing =
                prompt.arguments.iter().find(|argument| argument.required && is_missing(&argument.name));
            match missing {
                Some(argument) => format!(
                    "argument {} is missing: {}",
                    quoted(&argument.name),
                    text::one_line(&prompt_signature(prompt))
                ),
                None => return error.into(),
            }
        }
    };
    Failure::new(Exit::Usage, ErrorWithHint::new(error, hint)).into()
}

fn show(result: &GetPromptResult, json: bool) -> content::Result<()> {
    if json {
        return Ok(print_json(&Member("result", result))?);
    }
    let mut printer = Printer::new(false, None)?;
    for message in &result.messages {
        match &message.role {
            Role::User => text::print_line("[user]")?,
            Role::Assistant => text::print_line("[assistant]")?,
            other => text::print_line(&format!("[{other}]"))?,
        }
        printer.block(&message.content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn later_of_an_object_and_another_argument_counts() {
        let rows = [
            (vec!["a=1", "{\"a\":\"2\"}"], Ok("2")),
            (vec!["a=1", "{\"a\":\"2\"}", "a=3"], Ok("3")),
            (vec!["a=1", "a=2"], Err("argument `a` is given twice")),
            (vec!["a:=1", "a=2"], Err("argument `a` is given twice")),
            (vec!["a=1", "{\"b\":\"2\"}", "a=3"], Err("argument `a` is given twice")),
        ];
        for (words, expected) in rows {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            let request = Arguments::read(&words).and_then(|arguments| request("p", arguments));
            let value = request.map(|it| json!(it.arguments)["a"].clone()).map_err(|Usage(why)| why);
            assert_eq!(value, expected.map(|text| json!(text)).map_err(str::to_owned), "{words:?}");
        }
    }
}
