//! Texts of settings, for both versions.

use agentwire_acp_schema::v1::{SessionConfigKind, SessionConfigOption};

/// Reads `on`, `true` or `yes`, or `off`, `false` or `no`.
pub(super) fn parse_switch(value: &str) -> Option<bool> {
    match value.to_lowercase().as_str() {
        "on" | "true" | "yes" => Some(true),
        "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// The text of a switch, which [`parse_switch`] reads.
pub(super) fn switch_text(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// The error for an option that is none of `known`.
pub(super) fn unknown_option(id: &str, known: &[&str]) -> String {
    match known {
        [] => "the agent offers no options".into(),
        known => format!("there is no option `{id}`; there are: {}", known.join(", ")),
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
