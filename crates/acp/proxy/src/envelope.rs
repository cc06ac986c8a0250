//! Wraps messages in `proxy/successor` envelopes and unwraps them.

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{
    Frame, Malformed, Message, Notification, RawJson, Request, RequestId, decode_params,
};
use agentwire_peer::Dialect;
use bytestring::ByteString;
use serde::{Deserialize, Serialize};

use crate::names;

/// The content of an envelope.
pub(crate) enum Unwrapped {
    /// A message, or the error for a request that is not an envelope.
    Frame(Frame),
    /// Nothing to deliver.
    Nothing,
}

/// Takes the message out of its envelope. The `_meta` of the envelope is for this hop only.
pub(crate) fn unwrap(message: Message) -> Unwrapped {
    match message {
        Message::Request(Request { id, params, .. }) => match decode_params::<Envelope<String>>(params) {
            Ok(inner) => Unwrapped::Frame(Message::from(Request::new(id, inner.method, inner.params)).into()),
            Err(error) => Unwrapped::Frame(Frame::Malformed(Malformed::request(id, error))),
        },
        Message::Notification(Notification { params, .. }) => {
            match decode_params::<Envelope<String>>(params) {
                // A cancel belongs to one hop and is never in an envelope.
                Ok(inner) if inner.method != Dialect::ACP.cancel_method => {
                    Unwrapped::Frame(Message::from(Notification::new(inner.method, inner.params)).into())
                }
                _ => Unwrapped::Nothing,
            }
        }
        message => Unwrapped::Frame(message.into()),
    }
}

pub(crate) fn wrap_request(request: Request, old_names: bool) -> Request {
    Request::new(request.id, successor(old_names), Some(wrap(&request.method, request.params)))
}

pub(crate) fn wrap_notification(notification: Notification, old_names: bool) -> Notification {
    Notification::new(successor(old_names), Some(wrap(&notification.method, notification.params)))
}

fn successor(old_names: bool) -> ByteString {
    ByteString::from_static(if old_names { names::OLD_SUCCESSOR } else { names::SUCCESSOR })
}

fn wrap(method: &str, params: Option<RawJson>) -> RawJson {
    RawJson::encode(&Envelope { method, params }).expect("a name and JSON text always have a JSON form")
}

/// Replaces the request id in a cancel by the id of the other hop. Malformed params stay unchanged.
pub(crate) fn map_cancel(mut cancel: Notification, id: impl Fn(&RequestId) -> RequestId) -> Notification {
    let params = cancel.params.as_ref().and_then(|params| params.decode::<CancelParams>().ok());
    if let Some(CancelParams { request_id }) = params {
        let params = CancelParams { request_id: id(&request_id) };
        cancel.params = Some(RawJson::encode(&params).expect("an id always has a JSON form"));
    }
    cancel
}

/// Replaces the id of the request that an `elicitation/create` belongs to by the id that the next hop knows. No
/// other member changes. The params stay unchanged if they name no request.
pub(crate) fn map_scope(request: &mut Request, id: impl FnOnce(&RequestId) -> Option<RequestId>) {
    if request.method != names::ELICITATION {
        return;
    }
    let Some(params) = &request.params else { return };
    let text = params.as_str();
    let Some((_, named)) = Members::of(text).find(|(name, _)| name == "requestId") else { return };
    let before = named.as_ptr().addr() - text.as_ptr().addr();
    let read = RawJson::parse(named.into()).and_then(|named| named.decode()).ok();
    let Some(known) = read.and_then(|named| id(&named)) else { return };
    let known = RawJson::encode(&known).expect("an id always has a JSON form");
    let after = &text[before + named.len()..];
    let text = format!("{}{}{after}", &text[..before], known.as_str());
    request.params = Some(RawJson::parse(text.into()).expect("one JSON value in the place of another"));
}

/// The params of `proxy/successor`, for requests and notifications. The schema's draft types are not used here, because a
/// build with this crate would then compile all drafts.
#[derive(Deserialize, Serialize)]
struct Envelope<M> {
    method: M,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    params: Option<RawJson>,
}

/// The params of `$/cancel_request`.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelParams {
    pub(crate) request_id: RequestId,
}
