//! Finds the rest of a resumed stream that runs, or has run, at another node.

pub(crate) mod followers;

use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, RequestId, Response, code};
use agentwire_store::{Event, EventId, Replay, Rest, SessionId, StoreError, StreamRun};
use bytes::Bytes;

use crate::server::endpoint::resources::Resources;
use crate::server::endpoint_store::EndpointStore;
use crate::server::nodes::resume::followers::Follower;
use crate::server::response_stream::StreamReader;
use crate::server::session::Session;

/// The pause before each new read of the end of a stream that has ended here, and the number of reads. Together as long as a command
/// of the store's engine may take.
const SETTLE_TIME: Duration = Duration::from_millis(150);
const SETTLE_ATTEMPTS: u32 = 10;

/// The interval and the number of reads of the store for more of a stream that runs at another node. After that the client
/// has to reconnect later. Few clients reconnect more than a few times.
const FOLLOW_TIME: Duration = Duration::from_millis(100);
const FOLLOW_ATTEMPTS: u32 = 20;

/// Finds the rest of a resumed stream, in several attempts.
#[derive(Default)]
pub(crate) struct StreamLocator {
    /// The number of reads that did not find the end of a stream that has ended here.
    settle_count: u32,
    /// The number of reads for more of a stream that runs at another node.
    follow_count: u32,
    /// The registration of this response as the one that follows the stream.
    follower: Option<Follower>,
}

/// The location of the rest of a stream.
pub(crate) enum StreamLocation {
    /// There is no rest.
    Nothing,
    /// At this node, from now on.
    Here(StreamReader),
    /// In the store.
    Stored,
    /// In the store, after this time.
    Later(Duration),
    /// At another node: the client has to reconnect later.
    Away,
}

impl StreamLocator {
    /// Finds the rest of a stream that does not run here and whose end is not in the store.
    pub(crate) async fn find(
        &mut self,
        (session, stream): (&Session, u64),
        runs: Option<StreamRun>,
        store: &EndpointStore,
        resources: &Arc<Resources>,
    ) -> Result<StreamLocation, StoreError> {
        let Some(node) = store.node() else { return Ok(StreamLocation::Nothing) };
        if runs.as_ref().is_some_and(|runs| runs.requests.is_empty()) {
            // The stream of a GET belongs to no node: it continues at the node that the client uses.
            return Ok(session.listen(resources).map_or(StreamLocation::Away, StreamLocation::Here));
        }
        let is_dead = match &runs {
            Some(runs) if runs.node == node.id() => {
                // The stream has ended here: the store is about to have its end, or has lost it.
                if self.settle_count < SETTLE_ATTEMPTS {
                    self.settle_count += 1;
                    return Ok(StreamLocation::Later(SETTLE_TIME));
                }
                true
            }
            Some(runs) => node.is_dead(runs.node).await?,
            None => true,
        };
        if !is_dead {
            let may_follow = self.may_follow((session, stream), resources);
            return Ok(if may_follow { StreamLocation::Later(FOLLOW_TIME) } else { StreamLocation::Away });
        }
        let requests = runs.map_or(Vec::new(), |runs| runs.requests);
        let last = unanswered(store, session.id(), stream, requests).await?;
        store.take_over(session.id(), stream, last).await?;
        Ok(StreamLocation::Stored)
    }

    /// Returns whether to ask the store again for more of a stream that runs at another node.
    fn may_follow(&mut self, (session, stream): (&Session, u64), resources: &Resources) -> bool {
        if self.follower.is_none() {
            self.follower = resources.nodes.followers.follow((session.id(), stream), session.caller());
        }
        self.follow_count += 1;
        self.follower.as_ref().is_some_and(Follower::is_newest)
            && self.follow_count <= FOLLOW_ATTEMPTS
            && !resources.is_closing()
    }
}

/// The errors for the requests that no stored event answers. `None` if all are answered.
async fn unanswered(
    store: &EndpointStore,
    session: SessionId,
    stream: u64,
    mut requests: Vec<RequestId>,
) -> Result<Option<Bytes>, StoreError> {
    let mut after = EventId::new(stream, 0);
    while !requests.is_empty() {
        let Replay { events, rest, .. } = store.replay(session, after).await?;
        for event in &events {
            after = event.id;
            answered(event, |id| requests.retain(|request| request != id));
        }
        if rest != Rest::More || events.is_empty() {
            break;
        }
    }
    let mut errors: Vec<Message> =
        requests.into_iter().map(|id| Response::new(id, Err(interrupted())).into()).collect();
    let frame = match errors.len() {
        0 => return Ok(None),
        1 => Frame::Single(errors.remove(0)),
        _ => Frame::Batch(errors.into_iter().map(Ok).collect()),
    };
    let mut text = Vec::new();
    frame.write(&mut text);
    Ok(Some(text.into()))
}

/// Calls `each` with the ids that an event answers.
fn answered(event: &Event, mut each: impl FnMut(&RequestId)) {
    let mut message = |message: &Message| {
        if let Message::Response(response) = message {
            each(&response.id);
        }
    };
    match Frame::parse_bytes(event.data.clone()) {
        Frame::Single(single) => message(&single),
        Frame::Batch(messages) => messages.iter().flatten().for_each(message),
        Frame::Malformed(_) => {}
    }
}

/// The error for a request whose node has ended.
fn interrupted() -> ErrorObject {
    let why = "interrupted: the node that ran this request has ended; the request may have been done";
    ErrorObject::new(code::INTERNAL_ERROR, why)
}
