//! Modes and configuration options.

use agentwire_acp_client::{Agent, BoxError};
use agentwire_acp_schema::v1::{
    ConfigOptionUpdate, CurrentModeUpdate, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigSelectOption,
    SessionConfigSelectOptions, SessionId, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use agentwire_acp_toolkit::{Change, Conversation};

use super::client::Client;
use crate::chat::complete::Completions;
use crate::chat::draw::current_value;
use crate::chat::rendered::short;
use crate::chat::view::View;

/// Completes the names that have changed.
pub(super) fn note(completions: &Completions, conversation: &Conversation, change: Change) {
    let (settings, options) =
        (change == Change::Settings, matches!(change, Change::Settings | Change::ConfigOptions));
    if change == Change::Commands {
        let commands = conversation.commands().iter();
        completions.known().commands =
            commands.map(|command| (command.name.clone(), short(&command.description))).collect();
    }
    if settings {
        let modes = conversation.modes().iter();
        completions.known().modes = modes.map(|mode| (mode.id.to_string(), short(&mode.name))).collect();
    }
    if options {
        let options = conversation.config_options();
        completions.known().options = options.map(|option| (option.id.to_string(), values(option))).collect();
    }
}

/// Changes the mode. Where the agent has an option for it instead, that is set.
pub(super) async fn set_mode(
    agent: &Agent,
    client: &Client,
    session: &SessionId,
    mode: &str,
) -> Result<(), BoxError> {
    let (modes, option) = client.conversation(|conversation| {
        let modes: Vec<_> = conversation.modes().iter().map(|mode| mode.id.to_string()).collect();
        let is_mode =
            |option: &&SessionConfigOption| option.category == Some(SessionConfigOptionCategory::Mode);
        (modes, conversation.config_options().find(is_mode).map(|option| option.id.to_string()))
    });
    if modes.is_empty() {
        return match option {
            Some(option) => set_option(agent, client, session, &option, mode).await,
            None => Err("the agent offers no modes".into()),
        };
    }
    if !modes.iter().any(|known| known == mode) {
        return Err(format!("there is no mode `{mode}`; there are: {}", modes.join(", ")).into());
    }
    agent.set_session_mode(SetSessionModeRequest::new(session, mode)).await?;
    Ok(client.apply(CurrentModeUpdate::new(mode))?)
}

/// Sets an option to a value, which may be named as people do.
pub(super) async fn set_option(
    agent: &Agent,
    client: &Client,
    session: &SessionId,
    id: &str,
    value: &str,
) -> Result<(), BoxError> {
    let meaning = client.conversation(|conversation| {
        let option = conversation.config_options().find(|option| *option.id == *id);
        let known = || conversation.config_options().map(|option| option.id.to_string()).collect::<Vec<_>>();
        match option {
            Some(option) => meaning(option, value),
            None if known().is_empty() => Err("the agent offers no options".into()),
            None => Err(format!("there is no option `{id}`; there are: {}", known().join(", "))),
        }
    })?;
    let request = SetSessionConfigOptionRequest::new(session, id, meaning);
    let answer = agent.set_session_config_option(request).await?;
    Ok(client.apply(ConfigOptionUpdate::new(answer.config_options))?)
}

/// Shows the modes.
pub(super) fn list_modes(view: &View, client: &Client) -> Result<(), BoxError> {
    let lines = client.conversation(|conversation| {
        let current = conversation.current_mode();
        let line = |mode: &agentwire_acp_schema::v1::SessionMode| {
            let mark = if current == Some(&mode.id) { "*" } else { " " };
            let about = mode.description.as_deref().unwrap_or(&mode.name);
            format!("{mark} {:<16} {about}", mode.id.to_string())
        };
        conversation.modes().iter().map(line).collect::<Vec<_>>()
    });
    if lines.is_empty() {
        return Ok(view.remark("The agent offers no modes.")?);
    }
    lines.iter().try_for_each(|line| view.line(line))?;
    Ok(())
}

/// Shows the options with what each can be set to.
pub(super) fn list_options(view: &View, client: &Client) -> Result<(), BoxError> {
    let lines = client.conversation(|conversation| {
        let line = |option: &SessionConfigOption| {
            let current = current_value(option).unwrap_or_default();
            format!(
                "{:<16} {current} of {}  {}",
                option.id.to_string(),
                values(option).join(", "),
                option.name
            )
        };
        conversation.config_options().map(line).collect::<Vec<_>>()
    });
    if lines.is_empty() {
        return Ok(view.remark("The agent offers no options.")?);
    }
    lines.iter().try_for_each(|line| view.line(line))?;
    Ok(())
}

/// What a person means by a value: its id, its name, or on and off.
fn meaning(option: &SessionConfigOption, value: &str) -> Result<SessionConfigOptionValue, String> {
    let none = || {
        let values = values(option).join(", ");
        format!("`{}` cannot be `{value}`; it can be: {values}", option.id)
    };
    match &option.kind {
        SessionConfigKind::Boolean(_) => match value.to_lowercase().as_str() {
            "on" | "true" | "yes" => Ok(true.into()),
            "off" | "false" | "no" => Ok(false.into()),
            _ => Err(none()),
        },
        SessionConfigKind::Select(select) => {
            let choices = choices(&select.options);
            let by_id = choices.iter().find(|choice| *choice.value == *value);
            let choice = by_id.or_else(|| choices.iter().find(|choice| choice.name == value));
            choice.map(|choice| choice.value.clone().into()).ok_or_else(none)
        }
        _ => Err(none()),
    }
}

fn values(option: &SessionConfigOption) -> Vec<String> {
    match &option.kind {
        SessionConfigKind::Boolean(_) => vec!["on".into(), "off".into()],
        SessionConfigKind::Select(select) => {
            choices(&select.options).iter().map(|choice| choice.value.to_string()).collect()
        }
        _ => Vec::new(),
    }
}

fn choices(options: &SessionConfigSelectOptions) -> Vec<&SessionConfigSelectOption> {
    match options {
        SessionConfigSelectOptions::Ungrouped(choices) => choices.iter().collect(),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).collect()
        }
        _ => Vec::new(),
    }
}
