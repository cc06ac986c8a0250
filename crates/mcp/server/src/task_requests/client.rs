//! The client of a request: the owner of its tasks, and whether it accepts tasks.

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::code::MissingCapabilities;
use agentwire_mcp_schema::{ClientCapabilities, task_extension};
use agentwire_transport::MessageSource;

use crate::TaskOwner;
use crate::request::client_context::ClientContext;
use crate::settings::Settings;

/// The owner of the tasks that a client starts or asks for.
pub(crate) fn owner(
    settings: &Settings,
    caller: &ClientContext,
    source: Option<&dyn MessageSource>,
) -> Result<TaskOwner, ErrorObject> {
    if let Some(principal) = settings.input.principal_of(source) {
        return Ok(TaskOwner::Principal(principal));
    }
    match caller {
        ClientContext::Session(session) => {
            session.name(source).map(|name| TaskOwner::Session(name.to_owned()))
        }
        ClientContext::Request(_) => Ok(TaskOwner::Bearer),
    }
}

/// Whether the client of a modern request declares the extension for tasks.
pub(crate) fn has_opted_in(caller: &ClientContext) -> bool {
    caller.capabilities().extensions.as_ref().is_some_and(|names| names.contains_key(task_extension::NAME))
}

/// The error for a client that has not declared the extension, where the request needs it.
pub(crate) fn not_opted_in() -> ErrorObject {
    MissingCapabilities::new(ClientCapabilities::default().extensions(task_extension::extensions())).into()
}
