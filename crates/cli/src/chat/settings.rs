//! Modes and configuration options: their names, values and lists. Those of version 2 are kept in the types of version 1.

use agentwire_acp_schema::v1::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOption, SessionConfigSelectOptions, SessionMode,
};
use agentwire_acp_toolkit::{Change, Conversation};

use super::complete::Completions;
use crate::terminal::short;

/// Replaces the completed names that a change of the conversation has changed.
pub(super) fn update_completions(completions: &Completions, conversation: &Conversation, change: Change) {
    if change == Change::Commands {
        let commands = conversation.commands().iter();
        completions.known().commands =
            commands.map(|command| (command.name.clone(), short(&command.description))).collect();
    }
    if change == Change::Settings {
        let modes = conversation.modes().iter();
        completions.known().modes = modes.map(|mode| (mode.id.to_string(), short(&mode.name))).collect();
    }
    if matches!(change, Change::Settings | Change::ConfigOptions) {
        let options = conversation.config_options();
        completions.known().options = options.map(|option| (option.id.to_string(), values(option))).collect();
    }
}

/// Replaces all completed names.
pub(super) fn update_all_completions(completions: &Completions, conversation: &Conversation) {
    update_completions(completions, conversation, Change::Commands);
    update_completions(completions, conversation, Change::Settings);
}

/// How the mode of a session is changed.
pub(super) enum ModeSetting {
    /// By `session/set_mode`.
    Mode,
    /// By the option with this id.
    Option(String),
}

/// How to change the mode to `mode`. An agent without modes may have an option for them.
///
/// # Errors
///
/// When the agent offers no modes, or not this one.
pub(super) fn mode_setting(conversation: &Conversation, mode: &str) -> Result<ModeSetting, String> {
    let modes: Vec<&str> = conversation.modes().iter().map(|mode| mode.id.as_str()).collect();
    if modes.is_empty() {
        return Ok(ModeSetting::Option(mode_option(conversation)?));
    }
    if !modes.contains(&mode) {
        return Err(format!("there is no mode `{mode}`; there are: {}", modes.join(", ")));
    }
    Ok(ModeSetting::Mode)
}

/// The id of the option that sets the mode.
///
/// # Errors
///
/// When there is none.
pub(super) fn mode_option(conversation: &Conversation) -> Result<String, String> {
    let is_mode = |option: &&SessionConfigOption| option.category == Some(SessionConfigOptionCategory::Mode);
    let option = conversation.config_options().find(is_mode).ok_or("the agent offers no modes")?;
    Ok(option.id.to_string())
}

/// The value of an option that a person gives by its id or its name, or as on or off.
///
/// # Errors
///
/// When the agent does not offer the option, or the option not this value.
pub(super) fn option_value(
    conversation: &Conversation,
    id: &str,
    value: &str,
) -> Result<SessionConfigOptionValue, String> {
    let Some(option) = conversation.config_options().find(|option| *option.id == *id) else {
        let known: Vec<&str> = conversation.config_options().map(|option| option.id.as_str()).collect();
        return Err(unknown_option(id, &known));
    };
    let parsed = match &option.kind {
        SessionConfigKind::Boolean(_) => parse_switch(value).map(Into::into),
        SessionConfigKind::Select(select) => {
            let choices = choices(&select.options);
            let by_id = choices.iter().find(|choice| *choice.value == *value);
            let choice = by_id.or_else(|| choices.iter().find(|choice| choice.name == value));
            choice.map(|choice| choice.value.clone().into())
        }
        _ => None,
    };
    parsed.ok_or_else(|| {
        format!("`{}` cannot be `{value}`; it can be: {}", option.id, values(option).join(", "))
    })
}

/// A line for each mode, with a mark at the current one.
pub(super) fn mode_lines(conversation: &Conversation) -> Vec<String> {
    let current = conversation.current_mode();
    let line = |mode: &SessionMode| {
        let mark = if current == Some(&mode.id) { "*" } else { " " };
        let about = mode.description.as_deref().unwrap_or(&mode.name);
        format!("{mark} {:<16} {about}", mode.id.to_string())
    };
    conversation.modes().iter().map(line).collect()
}

/// A line for each option, with its value and its choices.
pub(super) fn option_lines(conversation: &Conversation) -> Vec<String> {
    let line = |option: &SessionConfigOption| {
        let current = current_value(option).unwrap_or_default();
        let values = values(option).join(", ");
        format!("{:<16} {current} of {values}  {}", option.id.to_string(), option.name)
    };
    conversation.config_options().map(line).collect()
}

fn values(option: &SessionConfigOption) -> Vec<String> {
    match &option.kind {
        SessionConfigKind::Boolean(_) => [true, false].map(|is_on| switch_text(is_on).into()).into(),
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

/// The value of an option. None for an option of an unknown type.
pub(super) fn current_value(option: &SessionConfigOption) -> Option<&str> {
    match &option.kind {
        SessionConfigKind::Select(select) => Some(select.current_value.as_str()),
        SessionConfigKind::Boolean(boolean) => Some(switch_text(boolean.current_value)),
        _ => None,
    }
}

/// Reads `on`, `true` or `yes`, or `off`, `false` or `no`.
fn parse_switch(value: &str) -> Option<bool> {
    match value.to_lowercase().as_str() {
        "on" | "true" | "yes" => Some(true),
        "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// The text of a switch, which [`parse_switch`] reads.
fn switch_text(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// The error for an option that is none of `known`.
fn unknown_option(id: &str, known: &[&str]) -> String {
    match known {
        [] => "the agent offers no options".into(),
        known => format!("there is no option `{id}`; there are: {}", known.join(", ")),
    }
}
