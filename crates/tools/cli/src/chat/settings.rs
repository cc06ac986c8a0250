//! Modes and configuration options: their names, values and lists. Those of version 2 are kept in the types of version 1.

use agentwire_acp_client::BoxError;
use agentwire_acp_schema::v1::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionMode,
};
use agentwire_acp_toolkit::{Change, Conversation};
use agentwire_jsonrpc::did_you_mean;

use crate::chat::input::complete::Completions;
use crate::failure::Usage;
use crate::terminal::short;

/// Updates the completed names after a change of the conversation.
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

/// The way to change the mode of a session.
pub(super) enum ModeSetting {
    /// By `session/set_mode` with this id.
    Mode(String),
    /// By the option with this id.
    Option(String),
}

/// The way to change the mode to the one with this id or name. An agent without modes may have an option for them.
///
/// # Errors
///
/// When the agent offers no modes, or not this one.
pub(super) fn mode_setting(conversation: &Conversation, mode: &str) -> Result<ModeSetting, Usage> {
    let modes: Vec<_> = conversation.modes().iter().map(|mode| (mode.id.as_str(), &*mode.name)).collect();
    if modes.is_empty() {
        return Ok(ModeSetting::Option(mode_option(conversation)?));
    }
    match find_named(&modes, mode) {
        Some(id) => Ok(ModeSetting::Mode(id.to_owned())),
        None => {
            let ids: Vec<_> = modes.iter().map(|(id, _)| *id).collect();
            Err(unknown("mode", mode, &ids))
        }
    }
}

/// Finds an id by itself or by its name. Exact matches win over those that differ in case.
fn find_named<'a>(known: &[(&'a str, &str)], word: &str) -> Option<&'a str> {
    let by_id = known.iter().find(|(id, _)| *id == word);
    let by_name = || known.iter().find(|(_, name)| *name == word);
    let by_any = || known.iter().find(|(id, name)| [id, name].iter().any(|it| it.eq_ignore_ascii_case(word)));
    by_id.or_else(by_name).or_else(by_any).map(|(id, _)| *id)
}

/// The setting of a session that a person asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestedSetting {
    Mode(String),
    Option { id: String, value: String },
}

/// Fails if the session does not have the setting now. The error shows the current value.
pub(super) fn check_setting(conversation: &Conversation, setting: &RequestedSetting) -> Result<(), BoxError> {
    let (id, value) = match setting {
        RequestedSetting::Option { id, value } => (id.clone(), value),
        RequestedSetting::Mode(mode) => match mode_setting(conversation, mode)? {
            ModeSetting::Option(id) => (id, mode),
            ModeSetting::Mode(id) => {
                let current = conversation.current_mode().map_or("none", |mode| mode.as_str());
                let lost = || {
                    format!("the agent does not stay in the mode `{id}`: the mode is `{}`", short(current))
                };
                return if current == id { Ok(()) } else { Err(lost().into()) };
            }
        },
    };
    let wanted = option_value(conversation, &id, value)?;
    let option = conversation.config_options().find(|option| *option.id == *id);
    let current = option.and_then(current_value).unwrap_or_default();
    let is_kept = match &wanted {
        SessionConfigOptionValue::Boolean(is_on) => current == switch_text(*is_on),
        SessionConfigOptionValue::ValueId(value) => current == value.as_str(),
        _ => true,
    };
    let lost =
        || format!("the agent does not keep the option `{id}` at `{value}`: it is `{}`", short(current));
    if is_kept { Ok(()) } else { Err(lost().into()) }
}

/// The id of the option that sets the mode.
///
/// # Errors
///
/// When there is none.
pub(super) fn mode_option(conversation: &Conversation) -> Result<String, Usage> {
    let is_mode = |option: &&SessionConfigOption| option.category == Some(SessionConfigOptionCategory::Mode);
    let none = || Usage("the agent offers no modes".into());
    let option = conversation.config_options().find(is_mode).ok_or_else(none)?;
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
) -> Result<SessionConfigOptionValue, Usage> {
    let Some(option) = conversation.config_options().find(|option| *option.id == *id) else {
        let known: Vec<&str> = conversation.config_options().map(|option| option.id.as_str()).collect();
        return Err(match &known[..] {
            [] => Usage("the agent offers no options".into()),
            known => unknown("option", id, known),
        });
    };
    let parsed = match &option.kind {
        SessionConfigKind::Boolean(_) => parse_switch(value).map(Into::into),
        SessionConfigKind::Select(select) => {
            let choices: Vec<_> = select.options.values().map(|it| (it.value.as_str(), &*it.name)).collect();
            find_named(&choices, value).map(|value| SessionConfigOptionValue::ValueId(value.into()))
        }
        _ => None,
    };
    parsed.ok_or_else(|| {
        let values = values(option);
        let meant = did_you_mean(value, values.iter().map(String::as_str));
        Usage(format!("`{}` cannot be `{value}`; it can be: {}{meant}", option.id, values.join(", ")))
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
            select.options.values().map(|choice| choice.value.to_string()).collect()
        }
        _ => Vec::new(),
    }
}

/// The value of an option. `None` for an option of an unknown type.
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

/// The error for a mode or an option that is not one of `known`.
fn unknown(kind: &str, id: &str, known: &[&str]) -> Usage {
    let meant = did_you_mean(id, known.iter().copied());
    Usage(format!("there is no {kind} `{id}`; there are: {}{meant}", known.join(", ")))
}
