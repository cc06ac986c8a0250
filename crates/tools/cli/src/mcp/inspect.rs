//! `agentwire inspect`: shows a server's name, revision, capabilities and lists.

use std::cell::Cell;
use std::io;

use agentwire_jsonrpc::{RawJson, WithCauses};
use agentwire_mcp_client::schema::{
    Implementation, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use agentwire_mcp_client::{BoxError, CallError, RemoteServer};
use anyhow::Result;
use serde::Serialize;
use serde_json::{Map, Value};

use super::arguments::{ServerOnly, TargetArgument};
use super::lists::{prompt_line, resource_line, template_line, templates};
use crate::connect::{Output, is_unknown_session, with_server};
use crate::output::print_json;
use crate::output::text;
use crate::server_target::{target_of, transport};
use crate::tools::tool_line;

/// The most lines of a list that are shown, and of the instructions. `tools`, `resources` and `prompts` show all.
const LIST_LIMIT: usize = 200;
const INSTRUCTIONS_LIMIT: usize = 20;

/// The most capabilities that are named.
const CAPABILITIES: usize = 50;

/// Prints the description and the lists of the server.
pub(crate) async fn inspect(arguments: ServerOnly, output: Output<'_>) -> Result<()> {
    let json = output.json;
    let mut connect = arguments.connect;
    let target = target_of(&connect, output.notes)?;
    let transport = transport(&target);
    connect.target_argument = TargetArgument::Target(Box::new(target));
    let is_repeated = Cell::new(false);
    let main = async move |server: RemoteServer| {
        let lists = Lists::read(&server).await;
        // The lists are read once more on a new connection, and then shown with their errors.
        if !is_repeated.replace(true) && lists.errors().any(is_unknown_session) {
            return failed(lists.into_errors().find(is_unknown_session));
        }
        let about = About {
            server: server.info(),
            revision: server.revision().to_string(),
            transport: &transport,
            capabilities: server.capabilities(),
            instructions: server.instructions(),
            tools: lists.tools.as_deref().unwrap_or_default(),
            resources: lists.resources.as_deref().unwrap_or_default(),
            resource_templates: lists.templates.as_deref().unwrap_or_default(),
            prompts: lists.prompts.as_deref().unwrap_or_default(),
        };
        if json {
            print_json(&about)?;
        } else {
            show(&about, &lists)?;
        }
        failed(lists.into_errors().next())
    };
    with_server(connect, output, main).await
}

/// The description of a server, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct About<'a> {
    server: &'a Implementation,
    revision: String,
    transport: &'a str,
    capabilities: &'a ServerCapabilities,
    instructions: Option<&'a str>,
    tools: &'a [Tool],
    resources: &'a [Resource],
    resource_templates: &'a [ResourceTemplate],
    prompts: &'a [Prompt],
}

/// The lists of a server. Lists that it does not offer are empty. One that cannot be read does not hide the others.
struct Lists {
    tools: Result<Vec<Tool>, CallError>,
    resources: Result<Vec<Resource>, CallError>,
    templates: Result<Vec<ResourceTemplate>, CallError>,
    prompts: Result<Vec<Prompt>, CallError>,
}

impl Lists {
    async fn read(server: &RemoteServer) -> Self {
        let has = |capability| server.capabilities().has(capability);
        let mut lists =
            Self { tools: Ok(vec![]), resources: Ok(vec![]), templates: Ok(vec![]), prompts: Ok(vec![]) };
        if has("tools") {
            lists.tools = server.tools().collect().await;
        }
        if has("resources") {
            lists.resources = server.resources().collect().await;
            lists.templates = templates(server).await;
        }
        if has("prompts") {
            lists.prompts = server.prompts().collect().await;
        }
        lists
    }

    fn errors(&self) -> impl Iterator<Item = &CallError> {
        let Self { tools, resources, templates, prompts } = self;
        [tools.as_ref().err(), resources.as_ref().err(), templates.as_ref().err(), prompts.as_ref().err()]
            .into_iter()
            .flatten()
    }

    fn into_errors(self) -> impl Iterator<Item = CallError> {
        let Self { tools, resources, templates, prompts } = self;
        [tools.err(), resources.err(), templates.err(), prompts.err()].into_iter().flatten()
    }
}

fn failed(error: Option<CallError>) -> Result<(), BoxError> {
    error.map_or(Ok(()), |error| Err(error.into()))
}

fn show(about: &About<'_>, lists: &Lists) -> io::Result<()> {
    let Implementation { name, version, title, website_url, .. } = about.server;
    let title = title.as_deref().filter(|title| title != name);
    let name = if name.is_empty() { "a server without a name" } else { name };
    text::print_line(format!("{name} {version}").trim_end())?;
    for (label, value) in [("title", title), ("website", website_url.as_deref())] {
        if let Some(value) = value {
            text::print_line(&format!("{label}: {value}"))?;
        }
    }
    text::print_line(&format!("revision: {}", about.revision))?;
    text::print_line(&format!("transport: {}", about.transport))?;
    text::print_line(&format!("capabilities: {}", capabilities(about.capabilities)))?;
    if let Some(instructions) = about.instructions {
        text::print("instructions:")?;
        let lines: Vec<_> = instructions.trim_end().lines().collect();
        for line in lines.iter().take(INSTRUCTIONS_LIMIT) {
            text::print_line(&format!("  {line}"))?;
        }
        more(lines.len(), INSTRUCTIONS_LIMIT)?;
    }
    list("tools", &lists.tools, tool_line)?;
    list("resources", &lists.resources, resource_line)?;
    list("resource templates", &lists.templates, template_line)?;
    list("prompts", &lists.prompts, prompt_line)
}

/// Prints a list with its count. A list without items takes one line.
fn list<T>(name: &str, items: &Result<Vec<T>, CallError>, line: fn(&T) -> String) -> io::Result<()> {
    match items {
        Ok(items) => {
            text::print_line(&format!("{name}: {}", items.len()))?;
            for item in items.iter().take(LIST_LIMIT) {
                text::print_line(&format!("  {}", line(item)))?;
            }
            more(items.len(), LIST_LIMIT)
        }
        Err(error) => text::print_line(&format!("{name}: {}", WithCauses::new(error))),
    }
}

fn more(count: usize, limit: usize) -> io::Result<()> {
    match count.checked_sub(limit) {
        None | Some(0) => Ok(()),
        Some(left) => text::print_line(&format!("  … and {left} more")),
    }
}

/// The capabilities by name, each with its enabled settings: `resources (subscribe)`.
fn capabilities(capabilities: &ServerCapabilities) -> String {
    let all: Map<String, Value> =
        RawJson::encode(capabilities).ok().and_then(|json| json.decode().ok()).unwrap_or_default();
    let shown = all.iter().take(CAPABILITIES).map(|(name, settings)| {
        let is_on = |(_, value): &(&String, &Value)| **value != Value::Bool(false);
        let settings = settings.as_object().into_iter().flatten().filter(is_on);
        let settings: Vec<_> = settings.take(CAPABILITIES).map(|(name, _)| &**name).collect();
        if settings.is_empty() { name.clone() } else { format!("{name} ({})", settings.join(", ")) }
    });
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}
