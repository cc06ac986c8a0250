//! Random names of tasks and sessions.

use agentwire_jsonrpc::ErrorObject;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Bytes of a name: 192 random bits, too many to guess.
const BYTES: usize = 24;

/// Returns a random name of 32 characters that are valid anywhere, such as in a header.
pub(crate) fn new_name() -> Result<String, ErrorObject> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| ErrorObject::internal_error("the system has no randomness"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Whether a text has the form of such a name.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() == BYTES / 3 * 4
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
