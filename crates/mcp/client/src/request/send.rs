//! The innermost part of the stack: one request and its answer.

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_wire::meta::PROGRESS_TOKEN;
use agentwire_peer::CallError;
use agentwire_peer::runtime::{CallExt, PeerExt};

use crate::connection::Connection;
use crate::handler::hooks::contained;
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
    let hook = call.options.on_progress.clone();
    let sent = match hook.is_some() || call.is_extended_by_progress() {
        true => {
            // The token is the id of the request, so each request of a call has a different one.
            let id = peer.reserve_call();
            let token = RawJson::encode(&id.request_id()).expect("an id has a JSON form");
            let params = with_meta(&params, PROGRESS_TOKEN, token);
            peer.call_encoded(method, Some(params)).reserved(id)
        }
        false => peer.call_encoded(method, Some(params)),
    };
    let sent = match hook {
        Some(hook) => sent.on_progress(move |params: RawJson| {
            // A report that cannot be decoded still shows that the server is at work.
            if let Ok(report) = params.decode() {
                contained(|| hook.lock()(report));
            }
        }),
        None => sent,
    };
    call.options.waits.apply(sent.decode_by(as_text))
}
