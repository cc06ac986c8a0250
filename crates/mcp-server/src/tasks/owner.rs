use agentwire_jsonrpc::ErrorObject;
use agentwire_transport::MessageSource;

use crate::TaskOwner;
use crate::client_context::ClientContext;
use crate::settings::Settings;

/// The owner of the tasks that a client starts or asks for.
pub(super) fn owner(
    settings: &Settings,
    caller: &ClientContext,
    source: Option<&dyn MessageSource>,
) -> Result<TaskOwner, ErrorObject> {
    if let Some(principal) = settings.input.principal_of(source) {
        return Ok(TaskOwner::Principal(principal));
    }
    match caller {
        ClientContext::Session(session) => session.name().map(|name| TaskOwner::Session(name.to_owned())),
        ClientContext::Request(_) => Ok(TaskOwner::Bearer),
    }
}
