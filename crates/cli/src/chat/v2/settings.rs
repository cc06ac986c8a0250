//! Configuration options of version 2: their values and lists.

use agentwire_acp_schema::v2::{SessionConfigKind, SessionConfigOption, SessionConfigOptionValue};

use crate::chat::settings::{parse_switch, switch_text, unknown_option};

/// The value of an option that a person gives. The agent checks it, but for on and off.
///
/// # Errors
///
/// When the agent does not offer the option, or the option is a switch and the value none of on and off.
pub(super) fn option_value(
    options: &[SessionConfigOption],
    id: &str,
    value: &str,
) -> Result<SessionConfigOptionValue, String> {
    match options.iter().find(|option| *option.config_id == *id).map(|option| &option.kind) {
        Some(SessionConfigKind::Boolean(_)) => {
            parse_switch(value).map(Into::into).ok_or_else(|| format!("`{id}` is on or off"))
        }
        Some(_) => Ok(SessionConfigOptionValue::from(value)),
        None => {
            let known: Vec<&str> = options.iter().map(|option| option.config_id.as_str()).collect();
            Err(unknown_option(id, &known))
        }
    }
}

/// A line for each option, with its value.
pub(super) fn option_lines(options: &[SessionConfigOption]) -> Vec<String> {
    let line = |option: &SessionConfigOption| {
        let value = current_value(option).unwrap_or_default();
        format!("{:<16} {value}  {}", option.config_id.to_string(), option.name)
    };
    options.iter().map(line).collect()
}

/// The value of an option. None for an option of an unknown type.
pub(super) fn current_value(option: &SessionConfigOption) -> Option<&str> {
    match &option.kind {
        SessionConfigKind::Select(select) => Some(select.current_value.as_str()),
        SessionConfigKind::Boolean(boolean) => Some(switch_text(boolean.current_value)),
        _ => None,
    }
}
