//! Stores the changes of a session that other nodes need: its log level, its subscriptions, and that its client is ready. Applies
//! the changes that other nodes have stored.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, RawJson, Request, RequestId, Response};
use agentwire_mcp_wire::method;
use agentwire_store::{BusMessage, SessionRecord, StoreError};

use crate::server::Head;
use crate::server::admission::record_limits::{RecordLimits, record_size};
use crate::server::nodes::record::message::{Change, initialized, member, method_of, text, uri};
use crate::server::nodes::record::readiness::Readiness;
use crate::server::nodes::record::shared::{SharedSession, WaitingAnswer};
use crate::server::response::refusal::Refusal;
use crate::server::session::Session;
use crate::server::session::sessions::Sessions;

/// The number of attempts to store a change while other nodes change the same record.
const ATTEMPTS: usize = 16;

/// Refuses changes that would exceed the limits of a session's record, and reserves the memory of the others.
pub(crate) fn check(
    session: &Session,
    limits: &RecordLimits,
    changes: &[(Option<RequestId>, Change)],
) -> Result<(), Refusal> {
    let Some(shared) = session.shared().filter(|_| !changes.is_empty()) else { return Ok(()) };
    let record = apply_changes(&shared.record(), changes.iter().map(|(_, change)| change));
    check_limits(&record, limits)?;
    shared.reserve(record_size(&record)).map_err(Refusal::too_many_records)
}

/// Stores the changes that the service of a session has made for its client. Sends the responses after that, in order, so a
/// client that has read a response finds the change at any node.
pub(crate) fn send_stored(sessions: &Arc<Sessions>, session: &Arc<Session>, answered: WaitingAnswer) {
    if session.shared().is_none_or(|shared| !shared.push_answered(answered)) {
        return;
    }
    let (sessions, session) = (sessions.clone(), session.clone());
    sessions.resources().clone().spawn(async move {
        while let Some(answered) = session.shared().and_then(SharedSession::next_answered) {
            let WaitingAnswer { mut frame, in_reply_to, changes } = answered;
            let (ids, changes): (Vec<_>, Vec<_>) = changes.into_iter().unzip();
            if let Err(refusal) = store(&sessions, &session, changes.clone()).await {
                undo_changes(&session, &changes);
                refuse(&mut frame, &ids, &refusal.into_error());
            }
            if session.send(frame, in_reply_to.as_ref(), sessions.resources()) {
                sessions.end(&session);
            }
        }
    });
}

/// Undoes changes that could not be stored, by messages to the service of the session.
fn undo_changes(session: &Session, changes: &[Change]) {
    let Some(shared) = session.shared() else { return };
    let record = shared.record();
    let made = apply_changes(&record, changes);
    differences(&made.messages, &record.messages).iter().for_each(|message| feed(session, message, None));
}

/// Replaces the responses to these requests by an error.
fn refuse(frame: &mut Frame, ids: &[RequestId], error: &ErrorObject) {
    let replace = |message: &mut Message| {
        if let Message::Response(response) = message
            && ids.contains(&response.id)
        {
            *response = Response::new(response.id.clone(), Err(error.clone()));
        }
    };
    match frame {
        Frame::Single(message) => replace(message),
        Frame::Batch(messages) => messages.iter_mut().flatten().for_each(replace),
        Frame::Malformed(_) => {}
    }
}

/// Stores changes in the record of a session, and notifies other nodes. Refuses the changes if the store does not take them,
/// because they would be lost with this node.
async fn store(
    sessions: &Arc<Sessions>,
    session: &Arc<Session>,
    changes: Vec<Change>,
) -> Result<(), Refusal> {
    let resources = sessions.resources();
    let Some((node, shared)) = resources.config.shared_node().zip(session.shared()) else {
        return Ok(());
    };
    let limits = &resources.config.record_limits;
    let (id, records) = (session.id(), &node.stores().records);
    for attempt in 0..ATTEMPTS {
        let before = shared.record();
        let mut record = apply_changes(&before, &changes);
        if record.messages == before.messages {
            if attempt > 0 {
                // The request that stored it may have ended before the other nodes were notified, because its client has left and
                // now sends this again.
                node.announce(BusMessage::SessionChanged(id));
            }
            return Ok(());
        }
        check_limits(&record, limits)?;
        shared.reserve(record_size(&record)).map_err(Refusal::too_many_records)?;
        match records.update(id, record.clone()).await {
            Ok(true) => {
                record.version += 1;
                shared.set_newer(record);
                // A node that misses this message loads the record when its subscription continues.
                node.announce(BusMessage::SessionChanged(id));
                return Ok(());
            }
            Ok(false) => {
                let refreshed = refresh_record(sessions, session).await;
                refreshed.inspect_err(|_| shared.set_stale())?;
            }
            Err(error) => {
                if !matches!(error, StoreError::Full(_)) {
                    // The store may have the changes nevertheless.
                    shared.set_stale();
                    node.announce(BusMessage::SessionChanged(id));
                }
                return Err(Refusal::store(&error, &resources.config));
            }
        }
    }
    shared.set_stale();
    Err(Refusal::elsewhere())
}

/// Stores in the record of a session that its client is ready. Also succeeds if the store is unreachable or full: the session
/// continues, and the tick tries to store it again.
pub(crate) async fn record_ready(
    sessions: &Arc<Sessions>,
    session: &Arc<Session>,
    ready: Change,
) -> Result<(), Refusal> {
    match store(sessions, session, vec![ready]).await {
        Err(refusal) if refusal.status() == http::StatusCode::SERVICE_UNAVAILABLE => Ok(()),
        stored => stored,
    }
}

/// Stores again that the client is ready, if the session is *Ready*. Only the tick calls this. If the arrival of a change from
/// another node did, two nodes would notify each other without end.
pub(crate) async fn retry_record_ready(sessions: &Arc<Sessions>, session: &Arc<Session>) {
    if session.readiness().is_some_and(Readiness::is_unrecorded)
        && let Some(ready) = text(&initialized())
    {
        // If it is not stored, the session stays *Ready*.
        let _refused = record_ready(sessions, session, Change(ready)).await;
    }
}

/// While the record of a session may have changed, loads it and gives the differences to the service. If the store is
/// unreachable, a later tick does this.
pub(crate) async fn refresh(sessions: &Arc<Sessions>, session: &Arc<Session>) {
    let Some(shared) = session.shared().filter(|shared| shared.begins_refresh()) else { return };
    while shared.take_stale() {
        if refresh_record(sessions, session).await.is_err() {
            shared.set_stale();
            break;
        }
    }
    shared.end_refresh();
}

async fn refresh_record(sessions: &Arc<Sessions>, session: &Arc<Session>) -> Result<(), Refusal> {
    let Some((node, shared)) = sessions.resources().config.shared_node().zip(session.shared()) else {
        return Ok(());
    };
    let loaded = node.stores().records.load(session.id()).await;
    let loaded = loaded.map_err(|error| Refusal::store(&error, &sessions.resources().config))?;
    let Some(new) = loaded else {
        sessions.end(session);
        sessions.forget(session.id());
        node.note_end(session.id());
        return Err(Refusal::unknown_session());
    };
    if let Err(full) = shared.reserve(record_size(&new)) {
        // The session continues at other nodes.
        sessions.end(session);
        return Err(Refusal::too_many_records(full));
    }
    let (messages, lost) = shared.change_record(|record| {
        if new.version < record.version {
            // The store has failed over and lost changes that it had acknowledged. This node still has them.
            record.version = new.version;
            return (Vec::new(), Some(record.clone()));
        }
        let messages = differences(&record.messages, &new.messages);
        *record = new;
        (messages, None)
    });
    messages.iter().for_each(|message| feed(session, message, None));
    if let Some(lost) = lost
        && let Ok(true) = node.stores().records.update(session.id(), lost).await
    {
        shared.change_record(|record| record.version += 1);
        node.announce(BusMessage::SessionChanged(session.id()));
    }
    Ok(())
}

/// Gives the service of a session a message, and drops the response to it.
pub(crate) fn feed(session: &Session, message: &RawJson, head: Option<&Arc<Head>>) {
    let mut frame = Frame::parse(message.as_str().into());
    if let Frame::Single(Message::Request(request)) = &mut frame {
        // The client may use the message's own id again.
        let number = session.shared().map_or(0, SharedSession::count_fed);
        request.id = RequestId::from(&*format!("agentwire-again-{number}"));
    }
    session.feed(frame, head);
}

/// The messages that change one state of a session into another.
fn differences(before: &[RawJson], after: &[RawJson]) -> Vec<RawJson> {
    let uris: HashSet<_> = after.iter().filter_map(uri).collect();
    let texts: HashSet<_> = before.iter().map(RawJson::as_str).collect();
    let gone = before.iter().filter_map(uri).filter(|of| !uris.contains(of));
    let unsubscribe = |of: String| {
        let params = RawJson::encode(&serde_json::json!({ "uri": of })).ok()?;
        text(&Request::new(0_i64, method::UNSUBSCRIBE, Some(params)).into())
    };
    let new = after.iter().filter(|message| !texts.contains(message.as_str())).cloned();
    gone.filter_map(unsubscribe).chain(new).collect()
}

/// Applies changes to a record. Any change shows that the client is ready, even if the store has missed that. Reads each message
/// once, because a client may send many.
fn apply_changes<'a>(record: &SessionRecord, changes: impl IntoIterator<Item = &'a Change>) -> SessionRecord {
    let (mut messages, mut ready) = (Vec::new(), None);
    let (mut level, mut subscriptions) = (None, HashMap::new());
    let mut add = |message: &RawJson| {
        let place = messages.len();
        let replaced = match &*method_of(message) {
            method::INITIALIZED => {
                ready.get_or_insert_with(|| message.clone());
                return;
            }
            method::SET_LEVEL => level.replace(place),
            method::SUBSCRIBE => match member(message, "uri").map(|of| subscriptions.entry(of)) {
                Some(Entry::Vacant(entry)) => {
                    entry.insert(place);
                    None
                }
                _ => return,
            },
            method::UNSUBSCRIBE => {
                let subscribed = member(message, "uri").and_then(|of| subscriptions.remove(&of));
                subscribed.into_iter().for_each(|place: usize| messages[place] = None);
                return;
            }
            _ => None,
        };
        replaced.into_iter().for_each(|place: usize| messages[place] = None);
        messages.push(Some(message.clone()));
    };
    record.messages.iter().for_each(&mut add);
    let count = changes.into_iter().inspect(|Change(message)| add(message)).count();
    if count > 0 && ready.is_none() {
        ready = text(&initialized());
    }
    let mut messages: Vec<_> = messages.into_iter().flatten().collect();
    ready.into_iter().for_each(|said| messages.insert(messages.len().min(1), said));
    let mut record = record.clone();
    record.messages = messages;
    record
}

fn check_limits(record: &SessionRecord, limits: &RecordLimits) -> Result<(), Refusal> {
    if record.messages.iter().filter_map(uri).count() > limits.subscriptions {
        return Err(too_many("subscriptions of a session", limits.subscriptions, "subscription_limit"));
    }
    if record.messages.iter().map(RawJson::len).sum::<usize>() > limits.bytes {
        return Err(too_many("bytes in the record of a session", limits.bytes, "record_limit"));
    }
    Ok(())
}

fn too_many(what: &str, limit: usize, setter: &str) -> Refusal {
    Refusal::busy(http::StatusCode::TOO_MANY_REQUESTS, what, limit, setter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RecordLimits = RecordLimits { subscriptions: 2, bytes: 1000, budget: 4000 };

    fn message(method: &str, params: &str) -> Change {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        Change(RawJson::parse(text.into()).unwrap())
    }

    fn methods(record: &SessionRecord) -> Vec<String> {
        record.messages.iter().map(method_of).collect()
    }

    #[test]
    fn record_has_the_messages_that_restore_the_session() {
        let opened = SessionRecord::new(None, vec![message("initialize", "{}").0]);
        let subscribe = |uri: &str| message("resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#));
        let all = [
            message("logging/setLevel", r#"{"level":"error"}"#),
            subscribe("a:1"),
            message("notifications/initialized", "{}"),
            message("logging/setLevel", r#"{"level":"debug"}"#),
            subscribe("a:1"),
            subscribe("a:2"),
            message("notifications/initialized", "{}"),
        ];
        let record = apply_changes(&opened, &all);
        check_limits(&record, &LIMITS).unwrap();
        let one_by_one = all.iter().fold(opened, |record, change| apply_changes(&record, [change]));
        assert_eq!(methods(&one_by_one), methods(&record));
        let expected = [
            "initialize",
            "notifications/initialized",
            "resources/subscribe",
            "logging/setLevel",
            "resources/subscribe",
        ];
        assert_eq!(methods(&record), expected);
        let one_more = apply_changes(&record, &[subscribe("a:3")]);
        assert!(check_limits(&one_more, &LIMITS).is_err(), "one more than there may be");
        let before = record.messages.clone();
        let all = [message("resources/unsubscribe", r#"{"uri":"a:1"}"#), subscribe("a:3")];
        let record = apply_changes(&record, &all);
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
        assert!(
            check_limits(&apply_changes(&record, [&large]), &LIMITS).is_err(),
            "more bytes than there may be"
        );
    }
}
