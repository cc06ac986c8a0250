//! A failure as JSON.

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_client::HandshakeError;
use agentwire_peer::CallError;
use agentwire_transport::Exited;
use agentwire_transport_http::client::HttpError;
use serde::Serialize;

use super::chain::chain;
use super::sentence::sentence;

/// A failure as an object with its exit code. If the agent or server answered with an error, it has that error.
pub(crate) fn to_json(error: &anyhow::Error, exit_code: u8) -> impl Serialize + use<'_> {
    /// Serialized directly: the other side's error may have numbers that a `serde_json::Value` cannot hold.
    #[derive(Serialize)]
    #[serde(untagged, rename_all_fields = "camelCase")]
    enum Failure<'a> {
        Refused { error: &'a ErrorObject, message: String, exit_code: u8 },
        Other { error: Plain<'a>, exit_code: u8 },
    }

    #[derive(Serialize)]
    struct Plain<'a> {
        code: (),
        message: String,
        /// The last lines of the stderr of a program that has ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        stderr: Option<&'a str>,
    }

    let message = sentence(error);
    match chain(error.as_ref()).find_map(refusal) {
        Some(refusal) => Failure::Refused { error: refusal, message, exit_code },
        None => {
            let exited = Exited::of(error.as_ref());
            let stderr = exited.map(|exited| &*exited.stderr).filter(|stderr| !stderr.is_empty());
            Failure::Other { error: Plain { code: (), message, stderr }, exit_code }
        }
    }
}

/// The JSON-RPC error of the other side: the answer to a call, or the body of an HTTP response.
fn refusal<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a ErrorObject> {
    if let Some(HttpError::Refused(refusal)) = cause.downcast_ref() {
        return refusal.error.as_ref();
    }
    let call = cause.downcast_ref::<CallError>().or(match cause.downcast_ref() {
        Some(HandshakeError::Call(call)) => Some(call),
        _ => None,
    });
    call.and_then(CallError::refusal)
}
