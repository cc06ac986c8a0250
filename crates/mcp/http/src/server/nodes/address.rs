//! Puts the name of a node into the ids of its requests to clients, so that the response finds the node that waits for it.

use agentwire_jsonrpc::{Frame, Message, Notification, RawJson, RawObject, RequestId};
use agentwire_mcp_wire::method;
use agentwire_store::NodeId;
use bytestring::ByteString;

/// A message of the client that goes to another node.
pub(crate) struct Forward {
    /// The node. `None` for all nodes.
    pub(crate) to: Option<NodeId>,
    /// Whether the message is a response to a request of that node.
    pub(crate) is_answer: bool,
    pub(crate) message: RawJson,
}

/// Writes the name of this node into the ids of requests to the client, and into the notifications that refer to these ids.
pub(crate) fn outgoing(node: NodeId, frame: &mut Frame) {
    let name = |message: &mut Message| match message {
        Message::Request(request) => {
            request.id = named(node, &id_text(&request.id));
            if let Some(params) = &request.params
                && let Some(renamed) = rename(params, "_meta", |meta| {
                    rename(meta, "progressToken", |token| Some(json_string(&tag(node, token.as_str()))))
                })
            {
                request.params = Some(renamed);
            }
        }
        Message::Notification(notification) if notification.method == method::CANCELLED => {
            if let Some(params) = &notification.params
                && let Some(renamed) =
                    rename(params, "requestId", |id| Some(json_string(&tag(node, id.as_str()))))
            {
                notification.params = Some(renamed);
            }
        }
        _ => {}
    };
    match frame {
        Frame::Single(message) => name(message),
        Frame::Batch(messages) => messages.iter_mut().flatten().for_each(name),
        Frame::Malformed(_) => {}
    }
}

/// Divides the messages of a client into those for this node, whose ids lose the node's name, and those for others. `runs_here`
/// returns whether a request of the client is unanswered at this node.
pub(crate) fn incoming(
    node: NodeId,
    frame: Frame,
    runs_here: impl Fn(&RequestId) -> bool,
) -> (Option<Frame>, Vec<Forward>) {
    let mut forwards = Vec::new();
    let mut divide = |message: Message| match addressee(message, node, &runs_here) {
        Addressee::Here(message) => Some(message),
        Addressee::Other(to, message) => {
            let is_answer = matches!(message, Message::Response(_));
            let mut text = Vec::new();
            message.write(&mut text);
            let text = ByteString::try_from(text).ok().and_then(|text| RawJson::parse(text).ok());
            forwards.extend(text.map(|message| Forward { to, is_answer, message }));
            None
        }
    };
    let frame = match frame {
        Frame::Single(message) => divide(message).map(Frame::Single),
        Frame::Batch(messages) => {
            let rest: Vec<_> = messages
                .into_iter()
                .filter_map(|message| match message {
                    Ok(message) => divide(message).map(Ok),
                    Err(malformed) => Some(Err(malformed)),
                })
                .collect();
            (!rest.is_empty()).then_some(Frame::Batch(rest))
        }
        frame @ Frame::Malformed(_) => Some(frame),
    };
    (frame, forwards)
}

/// Reads a message of the client that another node has forwarded. Removes the name of this node from its ids.
pub(crate) fn received(node: NodeId, message: &RawJson) -> Option<Frame> {
    let frame = Frame::parse(message.as_str().into());
    match frame {
        Frame::Single(Message::Request(_)) | Frame::Malformed(_) | Frame::Batch(_) => None,
        frame => incoming(node, frame, |_| true).0,
    }
}

enum Addressee {
    Here(Message),
    Other(Option<NodeId>, Message),
}

fn addressee(message: Message, node: NodeId, runs_here: &impl Fn(&RequestId) -> bool) -> Addressee {
    match message {
        Message::Response(mut response) => match response.id.as_str().as_deref().and_then(read_tag) {
            Some((to, id)) if to == node => {
                response.id = id;
                Addressee::Here(response.into())
            }
            Some((to, _)) => Addressee::Other(Some(to), response.into()),
            None => Addressee::Here(response.into()),
        },
        Message::Notification(notification) => {
            if let Some(id) = agentwire_mcp_wire::cancelled_request(&notification) {
                return if runs_here(&id) {
                    Addressee::Here(notification.into())
                } else {
                    Addressee::Other(None, notification.into())
                };
            }
            progress(notification, node)
        }
        request => Addressee::Here(request),
    }
}

/// Finds the node to whose request a progress notification belongs.
fn progress(mut notification: Notification, node: NodeId) -> Addressee {
    let token = (notification.method == PROGRESS)
        .then(|| notification.params.as_ref()?.member("progressToken")?.decode::<String>().ok())
        .flatten();
    match token.as_deref().and_then(read_tag) {
        Some((to, id)) if to == node => {
            let params = notification.params.as_ref();
            let renamed =
                params.and_then(|params| rename(params, "progressToken", |_| RawJson::encode(&id).ok()));
            if renamed.is_some() {
                notification.params = renamed;
            }
            Addressee::Here(notification.into())
        }
        Some((to, _)) => Addressee::Other(Some(to), notification.into()),
        None => Addressee::Here(notification.into()),
    }
}

const PROGRESS: &str = "notifications/progress";

/// `NODE-ID`, where ID is the JSON text of the id.
fn tag(node: NodeId, id: &str) -> String {
    format!("{node}-{id}")
}

fn named(node: NodeId, id: &str) -> RequestId {
    RequestId::from(&*tag(node, id))
}

fn id_text(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_default()
}

fn read_tag(text: &str) -> Option<(NodeId, RequestId)> {
    let (node, id) = text.split_once('-')?;
    // read: an id, which is text or a number.
    Some((NodeId::parse(node)?, serde_json::from_str(id).ok()?))
}

/// The object with one member replaced. `None` if it has no such member.
fn rename(
    object: &RawJson,
    member: &str,
    replace: impl FnOnce(&RawJson) -> Option<RawJson>,
) -> Option<RawJson> {
    let replaced = replace(&object.member(member)?)?;
    let mut object: RawObject = object.decode().ok()?;
    object.insert(member, replaced);
    Some(object.as_raw().clone())
}

fn json_string(text: &str) -> RawJson {
    RawJson::encode(text).unwrap_or(RawJson::EMPTY_OBJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: NodeId = NodeId::new(1);
    const OTHER: NodeId = NodeId::new(2);

    fn frame(text: &str) -> Frame {
        Frame::parse(text.into())
    }

    fn text(frame: &Frame) -> String {
        let mut text = Vec::new();
        frame.write(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn response_is_forwarded_to_the_node_that_sent_the_request() {
        for id in ["7", r#""s-1""#] {
            let sent = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list","params":{{"_meta":{{"progressToken":{id}}}}}}}"#
            );
            let mut request = frame(&sent);
            outgoing(HERE, &mut request);
            let Frame::Single(Message::Request(request)) = &request else { panic!("{request:?}") };
            let token = request.params.as_ref().unwrap().member("_meta").unwrap().member("progressToken");
            let token = token.unwrap().as_str().to_owned();
            assert_eq!(token, serde_json::to_string(&request.id).unwrap());
            for (answer, plain) in [
                (
                    format!(r#"{{"jsonrpc":"2.0","id":{token},"result":{{}}}}"#),
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
                ),
                (
                    format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token}}}}}"#
                    ),
                    format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id}}}}}"#
                    ),
                ),
            ] {
                let (here, none) = incoming(HERE, frame(&answer), |_| false);
                assert_eq!((text(&here.unwrap()), none.len()), (plain.clone(), 0));
                let (none, forwards) = incoming(OTHER, frame(&answer), |_| false);
                assert!(none.is_none());
                assert_eq!((forwards.len(), forwards[0].to), (1, Some(HERE)));
                assert_eq!(text(&received(HERE, &forwards[0].message).unwrap()), plain);
            }
        }
    }

    #[test]
    fn cancellation_is_forwarded_unless_the_request_runs_here() {
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
        assert_eq!(text(&incoming(HERE, frame(cancel), |_| true).0.unwrap()), cancel);
        let (none, forwards) = incoming(HERE, frame(cancel), |_| false);
        assert!(none.is_none() && forwards[0].to.is_none());
        let mut own = frame(cancel);
        outgoing(HERE, &mut own);
        assert!(text(&own).contains(r#""requestId":"0000000000000001-3""#));
    }

    #[test]
    fn ids_without_the_name_of_a_node_are_unchanged() {
        for other in [
            r#"{"jsonrpc":"2.0","id":"s-1","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"1-7","method":"x"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}"#,
        ] {
            let (here, forwards) = incoming(HERE, frame(other), |_| false);
            assert_eq!((text(&here.unwrap()), forwards.len()), (other.to_owned(), 0));
        }
        for other in [r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#, "[]", "{}"] {
            assert!(received(HERE, &RawJson::parse(other.into()).unwrap()).is_none(), "{other}");
        }
    }
}
