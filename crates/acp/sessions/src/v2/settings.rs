//! Converts options, slash commands, authentication methods and MCP servers.

use agentwire_acp_agent::Error;
use agentwire_acp_schema::{v1, v2};

use super::transcode;

pub(super) fn options(
    options: Vec<v1::SessionConfigOption>,
) -> Result<Vec<v2::SessionConfigOption>, serde_json::Error> {
    options.into_iter().map(option).collect()
}

fn option(option: v1::SessionConfigOption) -> Result<v2::SessionConfigOption, serde_json::Error> {
    let kind = match option.kind {
        v1::SessionConfigKind::Select(select) => {
            v2::SessionConfigSelect::new(select.current_value, values(select.options)?).into()
        }
        v1::SessionConfigKind::Boolean(boolean) => boolean.into(),
        v1::SessionConfigKind::Unknown(members) => v2::SessionConfigKind::Unknown(members),
        other => transcode(&other)?,
    };
    let mut same = v2::SessionConfigOption::new(option.id, option.name, kind);
    (same.description, same.category, same.meta) = (option.description, option.category, option.meta);
    Ok(same)
}

fn values(
    values: v1::SessionConfigSelectOptions,
) -> Result<v2::SessionConfigSelectOptions, serde_json::Error> {
    match values {
        v1::SessionConfigSelectOptions::Ungrouped(values) => Ok(values.into()),
        v1::SessionConfigSelectOptions::Grouped(groups) => {
            let group = |group: v1::SessionConfigSelectGroup| {
                let mut same = v2::SessionConfigSelectGroup::new(group.group, group.name, group.options);
                same.meta = group.meta;
                same
            };
            Ok(groups.into_iter().map(group).collect::<Vec<_>>().into())
        }
        other => transcode(&other),
    }
}

pub(super) fn option_value(
    value: v2::SessionConfigOptionValue,
) -> Result<v1::SessionConfigOptionValue, Error> {
    match value {
        v2::SessionConfigOptionValue::Id(id) => Ok(id.into()),
        v2::SessionConfigOptionValue::Boolean(on) => Ok(on.into()),
        _ => Err(Error::invalid_params("value: it is of a type not known here")),
    }
}

pub(super) fn commands(commands: Vec<v1::AvailableCommand>) -> Vec<v2::AvailableCommand> {
    let command = |command: v1::AvailableCommand| {
        let mut same = v2::Command::new(command.name, command.description);
        if let Some(v1::AvailableCommandInput::Unstructured(input)) = command.input {
            let mut text = v2::TextCommandInput::new(input.hint);
            text.meta = input.meta;
            same = same.input(text);
        }
        same.meta = command.meta;
        same.into()
    };
    commands.into_iter().map(command).collect()
}

pub(super) fn auth_methods(methods: Vec<v1::AuthMethod>) -> Vec<v2::AuthMethod> {
    let method = |method| match method {
        v1::AuthMethod::Agent(method) => {
            let mut same = v2::AuthMethodAgent::new(method.id, method.name);
            (same.description, same.meta) = (method.description, method.meta);
            Some(same.into())
        }
        v1::AuthMethod::Terminal(method) => {
            let env = method.env.into_iter().map(|(name, value)| v2::EnvVariable::new(name, value));
            let mut same = v2::AuthMethodTerminal::new(method.id, method.name).args(method.args).env(env);
            (same.description, same.meta) = (method.description, method.meta);
            Some(same.into())
        }
        // A method of an unknown type has the members of version 1.
        _ => None,
    };
    methods.into_iter().filter_map(method).collect()
}

/// Returns the MCP servers of a request. Servers of an unknown type have been refused before.
pub(super) fn mcp_servers(servers: Vec<v2::McpServer>) -> Vec<v1::McpServer> {
    let server = |server| match server {
        v2::McpServer::Http(server) => {
            let mut same = v1::McpServerHttp::new(server.name, server.url).headers(server.headers);
            same.meta = server.meta;
            same.into()
        }
        v2::McpServer::Stdio(server) => {
            let command = server.command.into_path_buf().to_string_lossy().into_owned();
            let mut same = v1::McpServerStdio::new(server.name, command).args(server.args).env(server.env);
            same.meta = server.meta;
            same.into()
        }
        v2::McpServer::Unknown(object) => v1::McpServer::Unknown(object),
        _ => v1::McpServer::Unknown(v1::Meta::default()),
    };
    servers.into_iter().map(server).collect()
}
