//! The innermost part of the stack: one request and its answer.

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_wire::meta::PROGRESS_TOKEN;
use agentwire_peer::CallError;
use agentwire_peer::runtime::{CallExt, PeerExt};

use crate::connection::Connection;
use crate::raw::{RawAnswer, RawCall, with_meta};
use crate::result::{ResultKind, UNKNOWN_KIND, as_text, kind_of, malformed};

/// Sends a request and waits for its answer. The parameters have their [stamp](super::stamp) afterwards.
pub(crate) async fn call(connection: &Connection, call: &mut RawCall) -> Result<RawAnswer, CallError> {
    call.stamp(connection)?;
    let result = start(connection, call).await?;
    let kind = match connection.is_modern() {
        true => kind_of(&result).map_err(|why| malformed(call.method.clone(), &why))?,
        false => ResultKind::Complete,
    };
    if kind == ResultKind::Unknown {
        return Err(CallError::unusable(call.method.clone(), UNKNOWN_KIND));
    }
    Ok(RawAnswer { result, kind, rounds: 0, task: None })
}

/// Makes the call of the peer that sends a request when it is first polled. The request must be
/// [stamped](RawCall::stamp) where the server is modern.
pub(crate) fn start(connection: &Connection, call: &RawCall) -> agentwire_peer::Call<RawJson> {
    let (peer, method, params) = (&connection.peer, call.method.clone(), call.params.clone());
    let sent = match call.options.on_progress.clone() {
        Some(hook) => {
            // The token is the id of the request, so each request of a call has another.
            let id = peer.reserve_call();
            let token = RawJson::encode(&id.request_id()).expect("an id has a JSON form");
            let report = move |params: RawJson| {
                // A report that cannot be decoded still shows that the server is at work.
                if let Ok(report) = params.decode() {
                    hook.lock()(report);
                }
            };
            let params = with_meta(&params, PROGRESS_TOKEN, token);
            peer.call_encoded(method, Some(params)).reserved(id).on_progress(report)
        }
        None => peer.call_encoded(method, Some(params)),
    };
    call.options.waits.apply(sent.decode_by(as_text))
}
