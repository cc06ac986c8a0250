use agentwire_jsonrpc::ErrorObject;
use agentwire_transport::MessageSource;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::era::Caller;
use crate::{Server, TaskOwner};

/// Bytes of a name: 192 bits, which nobody guesses.
const BYTES: usize = 24;

/// Who a task belongs to that is made, or asked for, by that caller.
pub(super) fn owner(
    server: &Server,
    caller: &Caller,
    source: Option<&dyn MessageSource>,
) -> Result<TaskOwner, ErrorObject> {
    if let Some(principal) = server.asking_settings().principal_of(source) {
        return Ok(TaskOwner::Principal(principal));
    }
    match caller {
        Caller::Session(session) => session.name().map(|name| TaskOwner::Session(name.to_owned())),
        Caller::Request(_) => Ok(TaskOwner::Bearer),
    }
}

/// A name by chance, of 32 characters that can stand anywhere, such as in a header.
pub(crate) fn new_name() -> Result<String, ErrorObject> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| ErrorObject::internal_error("the system has no randomness"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Whether a name can be one of ours.
pub(super) fn is_name(text: &str) -> bool {
    text.len() == BYTES / 3 * 4
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
