//! Answers requests for prompts.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{ErrorObject, RawObject, RequestMethod};
use agentwire_mcp_schema::{GetPromptRequest, ListPromptsRequest};
use serde::Deserialize;

use super::pending::PendingRequest;
use crate::capability::Capability;
use crate::request::params::read_params;
use crate::request::request_future::Reply;

pub(super) fn answer(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let server = pending.server;
    match &*pending.request.method {
        GetPromptRequest::NAME if pending.is_offered(Capability::Prompts) => fill(pending),
        ListPromptsRequest::NAME if pending.is_offered(Capability::Prompts) => {
            pending.list(&server.registries.prompts, "prompts")
        }
        unknown => Err(ErrorObject::method_not_found(unknown)),
    }
}

/// The members of a [`GetPromptRequest`] that are used here. Answers of earlier rounds are read when they are needed.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct PromptParams {
    name: String,
    arguments: Option<RawObject>,
}

fn fill(pending: PendingRequest<'_>) -> Result<Reply, ErrorObject> {
    let PromptParams { name, arguments } = read_params(pending.request.params.as_ref())?;
    let arguments: BTreeMap<String, String> =
        arguments.unwrap_or_default().decode().map_err(ErrorObject::invalid_params)?;
    let prompt = pending.server.registries.prompts.find(&name);
    let prompt =
        prompt.ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no prompt `{name}`")))?;
    pending.run(&prompt, &arguments)
}
