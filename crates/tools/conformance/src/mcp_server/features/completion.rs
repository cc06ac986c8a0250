//! Checks of servers: completion.

use serde_json::{Value, json};

use crate::check::{ANY, Check, shared};
use crate::conversation::Conversation;
use crate::mcp_server::Server;
use crate::mcp_server::features::{INVALID_PARAMS, List, METHOD_NOT_FOUND, entries, expect_code, has_code};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    shared!(completions_are_declared, ANY),
    shared!(at_most_a_hundred_values, ANY),
    shared!(unknown_prompt_is_refused, ANY),
];

/// The most arguments that a check asks to complete.
const MAX_ARGUMENTS: usize = 20;

/// The things to complete: the arguments of prompts and the variables of templates, as params.
async fn arguments(server: &Server, conversation: &mut Conversation) -> Outcome<Vec<Value>> {
    let capabilities = server.offer().await?["capabilities"].take();
    let mut all = Vec::new();
    if capabilities.get("resources").is_some() {
        for template in entries(conversation, List::TEMPLATES).await? {
            let Some(uri) = template["uriTemplate"].as_str() else { continue };
            if let Some(name) = variable(uri) {
                all.push(params(json!({"type": "ref/resource", "uri": uri}), name));
            }
        }
    }
    if capabilities.get("prompts").is_some() {
        for prompt in entries(conversation, List::PROMPTS).await? {
            for argument in prompt["arguments"].as_array().map_or(&[][..], Vec::as_slice) {
                let reference = json!({"type": "ref/prompt", "name": prompt["name"]});
                all.push(params(reference, argument["name"].as_str().unwrap_or_default()));
            }
        }
    }
    if all.is_empty() {
        return Err(Stop::not_applicable(
            "no prompt has an argument and no resource template has a variable",
        ));
    }
    all.truncate(MAX_ARGUMENTS);
    Ok(all)
}

fn params(reference: Value, name: &str) -> Value {
    json!({"ref": reference, "argument": {"name": name, "value": ""}})
}

/// The first variable of a template that is a plain name.
fn variable(template: &str) -> Option<&str> {
    let rest = &template[template.find('{')? + 1..];
    let name = rest[..rest.find('}')?].trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_';
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

/// The results of completion, without the requests that the server refuses.
async fn completions(server: &Server, conversation: &mut Conversation) -> Outcome<Vec<Value>> {
    let mut results = Vec::new();
    for params in arguments(server, conversation).await? {
        let response = conversation.request("completion/complete", params).await;
        let mut response = response.map_err(Stop::while_preparing)?;
        if has_code(&response, METHOD_NOT_FOUND) {
            return Err(Stop::not_applicable("the server does not complete"));
        }
        let result = response["result"].take();
        if result["completion"]["values"].is_array() {
            results.push(result);
        }
    }
    if results.is_empty() { Err(Stop::not_applicable("the server completes nothing")) } else { Ok(results) }
}

async fn completions_are_declared(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let mut conversation = server.open().await?;
    let results = completions(&server, &mut conversation).await?;
    // A result without values is what a server may have for any request.
    let has_values = |result: &Value| result["completion"]["values"][0].is_string();
    if !results.iter().any(has_values) {
        return Err(Stop::not_applicable("the server completes nothing"));
    }
    ensure!(
        offer.pointer("/capabilities/completions").is_some(),
        "the capability `completions` of a server that completes arguments",
        "the capabilities `{}`",
        offer["capabilities"]
    );
    Ok(())
}

async fn at_most_a_hundred_values(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    for result in completions(&server, &mut conversation).await? {
        let count = result["completion"]["values"].as_array().map_or(0, Vec::len);
        ensure!(count <= 100, "at most 100 values", "{count} values");
    }
    Ok(())
}

async fn unknown_prompt_is_refused(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let reference = json!({"type": "ref/prompt", "name": "conformance-no-such-prompt"});
    let response = conversation.request("completion/complete", params(reference, "argument")).await;
    let response = response.map_err(Stop::while_preparing)?;
    if has_code(&response, METHOD_NOT_FOUND) {
        return Err(Stop::not_applicable("the server does not complete"));
    }
    expect_code(&response, INVALID_PARAMS, "completion/complete for an unknown prompt")
}
