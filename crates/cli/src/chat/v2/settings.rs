//! Configuration options of version 2.

use agentwire_acp_client::BoxError;
use agentwire_acp_client::v2::Agent;
use agentwire_acp_schema::v2::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionValue, SessionId,
    SetSessionConfigOptionRequest,
};

use super::client::Client;
use crate::chat::view::View;

/// Sets an option to a value.
pub(super) async fn set_option(
    agent: &Agent,
    client: &Client,
    session: &SessionId,
    id: &str,
    value: &str,
) -> Result<(), BoxError> {
    let meaning = client.options(|options| {
        let option = options.iter().find(|option| *option.config_id == *id);
        let known: Vec<_> = options.iter().map(|option| option.config_id.to_string()).collect();
        match option.map(|option| &option.kind) {
            Some(SessionConfigKind::Boolean(_)) => match value.to_lowercase().as_str() {
                "on" | "true" | "yes" => Ok(true.into()),
                "off" | "false" | "no" => Ok(false.into()),
                _ => Err(format!("`{id}` is on or off")),
            },
            Some(_) => Ok(SessionConfigOptionValue::from(value)),
            None if known.is_empty() => Err("the agent offers no options".into()),
            None => Err(format!("there is no option `{id}`; there are: {}", known.join(", "))),
        }
    })?;
    let request = SetSessionConfigOptionRequest::new(session, id, meaning);
    let answer = agent.set_session_config_option(request).await?;
    Ok(client.set(answer.config_options)?)
}

/// Shows the options.
pub(super) fn list_options(view: &View, client: &Client) -> Result<(), BoxError> {
    let lines: Vec<_> = client.options(|options| {
        let line = |option: &SessionConfigOption| {
            let value = current_value(option).unwrap_or_default();
            format!("{:<16} {value}  {}", option.config_id.to_string(), option.name)
        };
        options.iter().map(line).collect()
    });
    if lines.is_empty() {
        return Ok(view.remark("The agent offers no options.")?);
    }
    lines.iter().try_for_each(|line| view.line(line))?;
    Ok(())
}

/// What an option is set to. None where it is of a type that nobody here knows.
pub(super) fn current_value(option: &SessionConfigOption) -> Option<&str> {
    match &option.kind {
        SessionConfigKind::Select(select) => Some(select.current_value.as_str()),
        SessionConfigKind::Boolean(boolean) => Some(if boolean.current_value { "on" } else { "off" }),
        _ => None,
    }
}
