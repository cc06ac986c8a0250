//! Checks of the agent's answers and updates before they are sent.

use agentwire_acp_schema::v2::{
    AuthMethod, DiffOperation, Patch, RequestPermissionSubject, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionValue, SessionInfo, SessionUpdate, SetSessionConfigOptionRequest, ToolCallContent,
    ToolCallUpdate,
};

use crate::method::CheckResult;
use crate::outgoing::{check_absolute, check_unique};

/// Checks that no two authentication methods have one id.
pub(crate) fn check_auth_methods(methods: &[AuthMethod]) -> CheckResult {
    check_unique("authentication methods", methods.iter().filter_map(AuthMethod::method_id))
}

/// Checks that the ids of options are unique, and that each current value is one of the option's values.
pub(crate) fn check_config_options(options: &[SessionConfigOption]) -> CheckResult {
    check_unique("configuration options", options.iter().map(|option| &*option.config_id))?;
    for option in options {
        if let SessionConfigKind::Select(select) = &option.kind
            && !select.offers(&select.current_value)
        {
            return Err(format!(
                "the value {:?} of the configuration option {:?} is none of its values",
                select.current_value, option.config_id
            ));
        }
    }
    Ok(())
}

/// Checks that the option exists and can have the value.
pub(crate) fn can_be_set(
    request: &SetSessionConfigOptionRequest,
    options: &[SessionConfigOption],
) -> CheckResult {
    let id = &request.config_id;
    let option = options.iter().find(|option| option.config_id == *id);
    let option = option.ok_or_else(|| format!("there is no option {id:?}"))?;
    let can = match (&option.kind, &request.value) {
        (SessionConfigKind::Select(select), SessionConfigOptionValue::Id(value)) => select.offers(value),
        (SessionConfigKind::Boolean(_), SessionConfigOptionValue::Boolean(_)) => true,
        (SessionConfigKind::Unknown(_), _) => true,
        _ => false,
    };
    if can { Ok(()) } else { Err(format!("the option {id:?} cannot have that value")) }
}

/// Checks that the answer to a changed option lists that option with the new value.
pub(crate) fn check_option_set(
    request: &SetSessionConfigOptionRequest,
    options: &[SessionConfigOption],
) -> CheckResult {
    let id = &request.config_id;
    let option = options.iter().find(|option| option.config_id == *id);
    let has_value = option.map(|option| match (&option.kind, &request.value) {
        (SessionConfigKind::Select(select), SessionConfigOptionValue::Id(value)) => {
            select.current_value == *value
        }
        (SessionConfigKind::Boolean(boolean), SessionConfigOptionValue::Boolean(value)) => {
            boolean.current_value == *value
        }
        (SessionConfigKind::Unknown(_), _) => true,
        _ => false,
    });
    crate::outgoing::check_new_value(id, has_value)
}

/// Sessions are listed with absolute paths.
pub(crate) fn check_sessions(sessions: &[SessionInfo]) -> CheckResult {
    check_absolute(
        sessions.iter().flat_map(|session| session.additional_directories.iter().chain([&session.cwd])),
    )
}

/// Checks the subject of a permission request.
pub(crate) fn check_subject(subject: Option<&RequestPermissionSubject>) -> CheckResult {
    match subject {
        Some(RequestPermissionSubject::ToolCall(subject)) => check_tool_call(&subject.tool_call),
        Some(RequestPermissionSubject::Command(subject)) => check_absolute([&subject.cwd]),
        _ => Ok(()),
    }
}

/// Checks an update against the rules for every client.
pub(crate) fn check_update(update: &SessionUpdate) -> CheckResult {
    match update {
        SessionUpdate::ConfigOptionUpdate(update) => check_config_options(&update.config_options),
        SessionUpdate::UsageUpdate(usage) => match &usage.cost {
            Patch::Set(cost) if !cost.amount.is_finite() || cost.currency.is_empty() => {
                Err("a cost needs a finite amount and a currency".into())
            }
            _ => Ok(()),
        },
        SessionUpdate::ToolCallUpdate(call) => check_tool_call(call),
        SessionUpdate::ToolCallContentChunk(chunk) => check_content(std::slice::from_ref(&chunk.content)),
        SessionUpdate::TerminalUpdate(terminal) => check_absolute(terminal.cwd.value()),
        _ => Ok(()),
    }
}

fn check_tool_call(call: &ToolCallUpdate) -> CheckResult {
    let locations = call.locations.value().into_iter().flatten();
    check_absolute(locations.map(|location| &location.path))?;
    check_content(call.content.value().map(Vec::as_slice).unwrap_or_default())
}

fn check_content(content: &[ToolCallContent]) -> CheckResult {
    let diffs = content.iter().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(diff),
        _ => None,
    });
    diffs.flat_map(|diff| &diff.changes).try_for_each(|change| match &change.operation {
        DiffOperation::Add(at) | DiffOperation::Delete(at) | DiffOperation::Modify(at) => {
            check_absolute([&at.path])
        }
        DiffOperation::Move(at) | DiffOperation::Copy(at) => check_absolute([&at.old_path, &at.path]),
        _ => Ok(()),
    })
}
