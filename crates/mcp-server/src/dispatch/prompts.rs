//! Requests for prompts.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::{GetPromptRequest, ListPromptsRequest};
use serde::Deserialize;

use super::Asked;
use crate::era::Reply;
use crate::kind::Kind;
use crate::params::read_object;

pub(super) fn answer(asked: Asked<'_>) -> Result<Reply, ErrorObject> {
    let server = asked.server;
    match &*asked.request.method {
        GetPromptRequest::NAME if asked.is_offered(Kind::Prompts) => fill(asked),
        ListPromptsRequest::NAME if asked.is_offered(Kind::Prompts) => {
            asked.list(server.prompts(), "prompts")
        }
        unknown => Err(ErrorObject::method_not_found(unknown)),
    }
}

/// What is wanted of a [`GetPromptRequest`] here. What it brings back of earlier rounds is read as it is needed.
#[derive(Deserialize)]
struct Filling {
    name: String,
    arguments: Option<BTreeMap<String, String>>,
}

fn fill(asked: Asked<'_>) -> Result<Reply, ErrorObject> {
    let Filling { name, arguments } = read_object(asked.request.params.as_ref())?;
    let arguments = arguments.unwrap_or_default();
    let prompt = asked.server.prompts().find(&name);
    let prompt =
        prompt.ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no prompt `{name}`")))?;
    let context = asked.into_asking()?;
    let running = prompt.run(&arguments, context.clone()).map_err(|why| {
        ErrorObject::invalid_params(format_args!("arguments of the prompt `{name}`: {why}"))
    })?;
    Ok(Reply::Running(context, running))
}
