//! Checks of the agent's answers and updates before they are sent.
//!
//! An item that this client does not support is removed. An item that is invalid for every client is an error of the agent:
//! an answer becomes an internal error that names the rule, and an update fails.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use agentwire_acp_schema::v1::{
    AuthMethod, ClientCapabilities, PermissionOption, SessionConfigId, SessionConfigKind,
    SessionConfigOption, SessionConfigOptionValue, SessionInfo, SessionModeState, SessionUpdate,
    SetSessionConfigOptionRequest, StopReason, ToolCallContent, ToolCallLocation,
};
use agentwire_peer::CallError;

use crate::method::CheckResult;
use crate::path::{holds_nul, is_absolute};

/// Checks that no two authentication methods have one id.
pub(crate) fn check_auth_methods(methods: &[AuthMethod]) -> CheckResult {
    check_unique("authentication methods", methods.iter().filter_map(AuthMethod::id))
}

/// Checks that no id occurs twice.
pub(crate) fn check_unique<'a, I: Into<Cow<'a, str>>>(
    what: &str,
    ids: impl IntoIterator<Item = I>,
) -> CheckResult {
    let mut seen = BTreeSet::new();
    match ids.into_iter().map(I::into).find(|id| !seen.insert(id.clone())) {
        Some(id) => Err(format!("two {what} have the id {id:?}")),
        None => Ok(()),
    }
}

/// Checks that the current mode is one of the available modes.
pub(crate) fn check_modes(state: Option<&SessionModeState>) -> CheckResult {
    let Some(state) = state else { return Ok(()) };
    check_unique("modes", state.available_modes.iter().map(|mode| &*mode.id))?;
    if state.available_modes.iter().any(|mode| mode.id == state.current_mode_id) {
        return Ok(());
    }
    Err(format!("the current mode {:?} is none of the available ones", state.current_mode_id))
}

/// Checks the modes and options of an answer that opens a session. Removes options that the client cannot take, and the
/// list where none is left.
pub(crate) fn check_session(
    state: Option<&SessionModeState>,
    options: &mut Option<Vec<SessionConfigOption>>,
    client: &ClientCapabilities,
) -> CheckResult {
    check_modes(state)?;
    let Some(list) = options else { return Ok(()) };
    let were_some = !list.is_empty();
    check_config_options(list, client)?;
    if were_some && list.is_empty() {
        *options = None;
    }
    Ok(())
}

/// Checks the ids and current values of options. Removes boolean options for a client that did not advertise them.
pub(crate) fn check_config_options(
    options: &mut Vec<SessionConfigOption>,
    client: &ClientCapabilities,
) -> CheckResult {
    if !takes_booleans(client) {
        options.retain(|option| !matches!(option.kind, SessionConfigKind::Boolean(_)));
    }
    check_unique("configuration options", options.iter().map(|option| &*option.id))?;
    for option in &*options {
        if let SessionConfigKind::Select(select) = &option.kind
            && !select.offers(&select.current_value)
        {
            return Err(format!(
                "the value {:?} of the configuration option {:?} is none of its values",
                select.current_value, option.id
            ));
        }
    }
    Ok(())
}

pub(crate) fn takes_booleans(client: &ClientCapabilities) -> bool {
    let options = client.session.as_ref().and_then(|session| session.config_options.as_ref());
    options.is_some_and(|options| options.boolean.is_some())
}

/// Checks that a stop reason is one of the protocol.
pub(crate) fn check_stop_reason(reason: &StopReason) -> CheckResult {
    match reason {
        StopReason::Other(word) => Err(format!("{word:?} is not a stop reason")),
        _ => Ok(()),
    }
}

/// Checks that the answer to a changed option lists that option with the new value.
pub(crate) fn check_option_set(
    request: &SetSessionConfigOptionRequest,
    options: &[SessionConfigOption],
) -> CheckResult {
    let id = &request.config_id;
    let option = options.iter().find(|option| option.id == *id);
    let has_value = option.map(|option| match (&option.kind, &request.value) {
        (SessionConfigKind::Select(select), SessionConfigOptionValue::ValueId(value)) => {
            select.current_value == *value
        }
        (SessionConfigKind::Boolean(boolean), SessionConfigOptionValue::Boolean(value)) => {
            boolean.current_value == *value
        }
        (SessionConfigKind::Unknown(_), _) => true,
        _ => false,
    });
    check_new_value(id, has_value)
}

/// `has_value` is whether an option that was set has the new value; `None` if it is not listed.
pub(crate) fn check_new_value(id: &SessionConfigId, has_value: Option<bool>) -> CheckResult {
    match has_value {
        Some(true) => Ok(()),
        Some(false) => Err(format!("the configuration option {id:?} was set and has another value")),
        None => Err(format!("the configuration option {id:?} was set and is missing from the answer")),
    }
}

/// Sessions are listed with absolute paths.
pub(crate) fn check_sessions(sessions: &[SessionInfo]) -> CheckResult {
    check_absolute(
        sessions.iter().flat_map(|session| session.additional_directories.iter().chain([&session.cwd])),
    )
}

/// There is something to choose, and each choice has an id of its own.
pub(crate) fn check_permission_options(options: &[PermissionOption]) -> CheckResult {
    if options.is_empty() {
        return Err("there must be an option to choose".into());
    }
    check_unique("options", options.iter().map(|option| &*option.option_id))
}

/// Checks an update against the client's capabilities and the rules for every client.
pub(crate) fn check_update(update: &mut SessionUpdate, client: Option<&ClientCapabilities>) -> CheckResult {
    let session = client.and_then(|client| client.session.as_ref());
    match update {
        SessionUpdate::Notice(_) if session.is_none_or(|session| session.notices.is_none()) => {
            Err(not_advertised("session.notices"))
        }
        SessionUpdate::CompactionUpdate(_) | SessionUpdate::CompactionSummaryChunk(_)
            if session.is_none_or(|session| session.compaction.is_none()) =>
        {
            Err(not_advertised("session.compaction"))
        }
        SessionUpdate::ConfigOptionUpdate(update) => {
            check_config_options(&mut update.config_options, client.unwrap_or(&ClientCapabilities::default()))
        }
        SessionUpdate::UsageUpdate(usage) => usage.cost.as_ref().map_or(Ok(()), |cost| {
            let is_sound = cost.amount.is_finite() && !cost.currency.is_empty();
            if is_sound { Ok(()) } else { Err("a cost needs a finite amount and a currency".into()) }
        }),
        SessionUpdate::ToolCall(call) => check_tool_call(&call.locations, &call.content),
        SessionUpdate::ToolCallUpdate(call) => check_tool_call(
            call.locations.as_deref().unwrap_or_default(),
            call.content.as_deref().unwrap_or_default(),
        ),
        _ => Ok(()),
    }
}

/// Checks the locations and diffs of a tool call.
pub(crate) fn check_tool_call(locations: &[ToolCallLocation], content: &[ToolCallContent]) -> CheckResult {
    if locations.iter().any(|location| location.line == Some(0)) {
        return Err("lines are counted from 1".into());
    }
    let diffs = content.iter().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    });
    check_absolute(locations.iter().map(|location| &location.path).chain(diffs))
}

/// Checks that a URL for the user holds no credentials.
pub(crate) fn check_url(url: &str) -> CheckResult {
    let authority =
        url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(""));
    if authority.contains('@') { Err("a URL to visit holds no credentials".into()) } else { Ok(()) }
}

/// Checks that the name of an extension method begins with an underscore.
pub(crate) fn check_extension(method: &str) -> Result<(), CallError> {
    if method.starts_with('_') {
        return Ok(());
    }
    Err(CallError::not_allowed(method, "the names of methods of one's own begin with an underscore"))
}

pub(crate) fn not_advertised(capability: &str) -> String {
    format!("the client did not advertise the capability {capability}")
}

/// Paths that cross the wire are absolute, and hold no NUL.
pub(crate) fn check_absolute<'a, P: AsRef<Path> + ?Sized + 'a>(
    paths: impl IntoIterator<Item = &'a P>,
) -> CheckResult {
    paths.into_iter().map(AsRef::as_ref).try_for_each(|path| {
        if !is_absolute(path) {
            return Err(format!("paths are absolute, and {path:?} is not"));
        }
        if holds_nul(path) {
            return Err(format!("paths hold no NUL, and {path:?} does"));
        }
        Ok(())
    })
}
