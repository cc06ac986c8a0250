//! Changes of a session that other nodes have to know: its log level, and the resources that its client subscribes to.

use std::sync::Arc;

use agentwire_jsonrpc::{Frame, Message, RawJson, Request, RequestId};
use agentwire_mcp_wire::method;
use agentwire_store::{BusMessage, SessionRecord};

use crate::server::Head;
use crate::server::endpoint_core::EndpointCore;
use crate::server::nodes::record;
use crate::server::record_limits::RecordLimits;
use crate::server::refusal::Refusal;
use crate::server::session::{Change, Session, SharedSession};

/// How often a change is tried while other nodes change the same record.
const ATTEMPTS: usize = 16;

/// The changes that a client asks for.
pub(crate) fn changes(frame: &Frame) -> Vec<Change> {
    match frame {
        Frame::Single(message) => change(message).into_iter().collect(),
        Frame::Batch(messages) => messages.iter().flatten().filter_map(change).collect(),
        Frame::Malformed(_) => Vec::new(),
    }
}

fn change(message: &Message) -> Option<Change> {
    let method = match message {
        Message::Request(request) => &request.method,
        Message::Notification(notification) => &notification.method,
        Message::Response(_) => return None,
    };
    let is_one = matches!(
        &**method,
        method::INITIALIZED | method::SET_LEVEL | method::SUBSCRIBE | method::UNSUBSCRIBE
    );
    is_one.then(|| record::text(message)).flatten().map(Change)
}

/// Stores changes in the record of a session, and tells other nodes. Where the store is away they are stored later: a session that is
/// known goes on.
pub(crate) async fn store(
    core: &Arc<EndpointCore>,
    session: &Arc<Session>,
    changes: Vec<Change>,
) -> Result<(), Refusal> {
    let Some((node, shared)) = core.resources.config.shared_node().zip(session.shared()) else {
        return Ok(());
    };
    let (id, records) = (session.id(), &node.stores().records);
    for _ in 0..ATTEMPTS {
        let mut record = shared.record.lock().clone();
        let before = record.messages.clone();
        for change in &changes {
            apply(&mut record, change, &core.resources.config.record_limits)?;
        }
        if record.messages == before {
            return Ok(());
        }
        match records.update(id, record.clone()).await {
            Ok(true) => {
                record.version += 1;
                *shared.record.lock() = record;
                // A node that misses this loads the record when its subscription continues.
                node.announce(BusMessage::SessionChanged(id));
                return Ok(());
            }
            Ok(false) => refresh_record(core, session).await?,
            Err(error @ agentwire_store::StoreError::Full(_)) => return Err(Refusal::store(&error)),
            Err(_) => {
                shared.keep_unsaved(changes);
                return Ok(());
            }
        }
    }
    Err(Refusal::elsewhere())
}

/// While the record of a session may be another, loads it, gives the service what differs, and stores the changes that the store has
/// missed. Where the store is away, this is done at a later tick.
pub(crate) async fn refresh(core: &Arc<EndpointCore>, session: &Arc<Session>) {
    let Some(shared) = session.shared().filter(|shared| shared.begins_refresh()) else { return };
    while shared.take_stale() {
        if refresh_record(core, session).await.is_err() {
            shared.set_stale();
            break;
        }
        let unsaved = shared.take_unsaved();
        if !unsaved.is_empty() && store(core, session, unsaved).await.is_err() {
            break;
        }
    }
    shared.end_refresh();
}

async fn refresh_record(core: &Arc<EndpointCore>, session: &Arc<Session>) -> Result<(), Refusal> {
    let Some((node, shared)) = core.resources.config.shared_node().zip(session.shared()) else {
        return Ok(());
    };
    let loaded = node.stores().records.load(session.id()).await.map_err(|error| Refusal::store(&error))?;
    let Some(new) = loaded else {
        core.sessions.end(session);
        core.sessions.forget(session.id());
        node.note_end(session.id());
        return Err(Refusal::unknown_session());
    };
    let (messages, lost) = {
        let mut record = shared.record.lock();
        if new == *record {
            return Ok(());
        }
        if new.version < record.version {
            // The engine has failed, and has lost changes that it had acknowledged. They are known here.
            record.version = new.version;
            (Vec::new(), Some(record.clone()))
        } else {
            let messages = differences(&record.messages, &new.messages);
            *record = new;
            (messages, None)
        }
    };
    messages.iter().for_each(|message| feed(session, message, None));
    if let Some(lost) = lost
        && let Ok(true) = node.stores().records.update(session.id(), lost).await
    {
        shared.record.lock().version += 1;
        node.announce(BusMessage::SessionChanged(session.id()));
    }
    Ok(())
}

/// Gives the service of a session a message whose answer nobody gets.
pub(crate) fn feed(session: &Session, message: &RawJson, head: Option<&Arc<Head>>) {
    let mut frame = Frame::parse(message.as_str().into());
    if let Frame::Single(Message::Request(request)) = &mut frame {
        // The client may use the id that the message had.
        let number = session.shared().map_or(0, SharedSession::count_fed);
        request.id = RequestId::from(&*format!("agentwire-again-{number}"));
    }
    session.feed(frame, head);
}

/// The messages that lead from one state of a session to another.
fn differences(before: &[RawJson], after: &[RawJson]) -> Vec<RawJson> {
    let gone = before.iter().filter(|message| {
        uri(message).is_some_and(|of| !after.iter().any(|other| uri(other).as_ref() == Some(&of)))
    });
    let unsubscribe = |message: &RawJson| {
        let params = RawJson::encode(&serde_json::json!({ "uri": uri(message)? })).ok()?;
        record::text(&Request::new(0_i64, method::UNSUBSCRIBE, Some(params)).into())
    };
    let new = after.iter().filter(|message| !before.contains(message)).cloned();
    gone.filter_map(unsubscribe).chain(new).collect()
}

/// Changes the messages of a record.
fn apply(record: &mut SessionRecord, Change(message): &Change, limits: &RecordLimits) -> Result<(), Refusal> {
    let messages = &mut record.messages;
    match &*method_of(message) {
        method::INITIALIZED => {
            if !messages.iter().any(|other| method_of(other) == method::INITIALIZED) {
                messages.insert(messages.len().min(1), message.clone());
            }
        }
        method::SET_LEVEL => {
            messages.retain(|other| method_of(other) != method::SET_LEVEL);
            messages.push(message.clone());
        }
        method::SUBSCRIBE => {
            let Some(of) = uri(message) else { return Ok(()) };
            let uris: Vec<_> = messages.iter().filter_map(uri).collect();
            if uris.contains(&of) {
                return Ok(());
            }
            if uris.len() >= limits.subscriptions {
                return Err(too_many("subscriptions of a session", limits.subscriptions));
            }
            messages.push(message.clone());
        }
        _ => {
            let of = member(message, "uri");
            messages.retain(|other| uri(other).is_none() || uri(other) != of);
        }
    }
    if messages.iter().map(RawJson::len).sum::<usize>() > limits.bytes {
        return Err(too_many("bytes in the record of a session", limits.bytes));
    }
    Ok(())
}

fn too_many(what: &str, limit: usize) -> Refusal {
    Refusal::busy(http::StatusCode::TOO_MANY_REQUESTS, what, limit)
}

/// The URI of a `resources/subscribe`.
fn uri(message: &RawJson) -> Option<String> {
    if method_of(message) == method::SUBSCRIBE { member(message, "uri") } else { None }
}

fn member(message: &RawJson, name: &str) -> Option<String> {
    message.member("params")?.member(name)?.decode().ok()
}

fn method_of(message: &RawJson) -> String {
    message.member("method").and_then(|method| method.decode().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RecordLimits = RecordLimits { subscriptions: 2, bytes: 1000 };

    fn message(method: &str, params: &str) -> Change {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        Change(RawJson::parse(text.into()).unwrap())
    }

    fn methods(record: &SessionRecord) -> Vec<String> {
        record.messages.iter().map(method_of).collect()
    }

    #[test]
    fn a_record_has_the_messages_that_make_the_session_what_it_is() {
        let mut record = SessionRecord::new(None, vec![message("initialize", "{}").0]);
        let subscribe = |uri: &str| message("resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#));
        let mut all = vec![
            message("logging/setLevel", r#"{"level":"error"}"#),
            subscribe("a:1"),
            message("notifications/initialized", "{}"),
            message("logging/setLevel", r#"{"level":"debug"}"#),
            subscribe("a:1"),
            subscribe("a:2"),
            message("notifications/initialized", "{}"),
        ];
        all.iter().for_each(|change| apply(&mut record, change, &LIMITS).unwrap());
        let expected = [
            "initialize",
            "notifications/initialized",
            "resources/subscribe",
            "logging/setLevel",
            "resources/subscribe",
        ];
        assert_eq!(methods(&record), expected);
        assert!(apply(&mut record, &subscribe("a:3"), &LIMITS).is_err(), "one more than there may be");
        let before = record.messages.clone();
        all = vec![message("resources/unsubscribe", r#"{"uri":"a:1"}"#), subscribe("a:3")];
        all.iter().for_each(|change| apply(&mut record, change, &LIMITS).unwrap());
        let differences = differences(&before, &record.messages);
        let texts: Vec<_> = differences.iter().map(|m| (method_of(m), member(m, "uri").unwrap())).collect();
        assert_eq!(
            texts,
            [
                ("resources/unsubscribe".to_owned(), "a:1".to_owned()),
                ("resources/subscribe".to_owned(), "a:3".to_owned())
            ]
        );
        let large = message("logging/setLevel", &format!(r#"{{"level":"{}"}}"#, "x".repeat(1000)));
        assert!(apply(&mut record, &large, &LIMITS).is_err(), "more bytes than there may be");
    }
}
