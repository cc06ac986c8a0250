//! The response to a GET that resumes a stream, whichever node has run that.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, RequestId, Response as Answer, code};
use agentwire_store::{Event, EventId, Replay, Rest, Runs, SessionId, StoreError};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::Response;

use crate::server::Body;
use crate::server::admission::quota::{QuotaExceeded, Reservation};
use crate::server::endpoint::resources::Resources;
use crate::server::nodes::followers::Follower;
use crate::server::nodes::guarded_store::GuardedStore;
use crate::server::response::heads::event_stream;
use crate::server::response::refusal::Refusal;
use crate::server::response::replayed::{Replayed, Then};
use crate::server::response_stream::ResumedStream;
use crate::server::session::Session;
use crate::sse;

/// About as many bytes stand around a remembered event.
const AROUND_EVENT: usize = 64;

/// How many bytes of events are taken from the store at once.
const PIECE: usize = 256 << 10;

/// How long the store may take to have the end of a stream that has ended here: as long as a command of an engine may take.
const SETTLE_TIME: Duration = Duration::from_millis(150);
const SETTLE_ATTEMPTS: u32 = 10;

/// How often, and how many times, the store is asked for more of a stream that runs at another node, before the client is sent away for
/// a while: many clients come back a few times only.
const FOLLOW_TIME: Duration = Duration::from_millis(100);
const FOLLOW_ATTEMPTS: u32 = 20;

/// A resumed stream that waits for the events it has missed.
pub(super) struct Resuming {
    first: BoxFuture<'static, Result<Replayed, Refusal>>,
    /// The memory of the request. None once it has gone on.
    reservation: Option<Reservation>,
}

impl Resuming {
    /// A client resumes the stream after that event. `live` is its stream where that runs here.
    pub(super) fn new(
        session: Arc<Session>,
        after: EventId,
        live: Option<ResumedStream>,
        (resources, store): (&Arc<Resources>, GuardedStore),
        reservation: Reservation,
    ) -> Self {
        let resources = resources.clone();
        let missed = Missed {
            session,
            after,
            live,
            resources: resources.clone(),
            store,
            settled: 0,
            followed: 0,
            follower: None,
        };
        let refuse = move |failure: Failure| failure.into_refusal(&resources);
        let first = async move { missed.next().await.map_err(refuse) };
        Self { first: first.boxed(), reservation: Some(reservation) }
    }

    pub(super) fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Result<Response<Body>, Refusal>> {
        let replayed = ready!(self.first.poll_unpin(cx))?;
        Poll::Ready(Ok(event_stream(Body::replayed(replayed, self.reservation.take()))))
    }
}

/// Why events cannot be replayed.
enum Failure {
    /// The store does not know the stream.
    Unknown,
    Store(StoreError),
    TooMuch(QuotaExceeded),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Failure {
    fn into_refusal(self, resources: &Resources) -> Refusal {
        match self {
            Self::Unknown => Refusal::unknown_event(),
            Self::Store(error) => Refusal::store(&error, &resources.config),
            Self::TooMuch(full) => Refusal::too_many_bytes(full),
        }
    }
}

/// What a client has missed of a stream.
struct Missed {
    session: Arc<Session>,
    /// The last event that the client has, or is about to be sent.
    after: EventId,
    /// The stream, where it runs here.
    live: Option<ResumedStream>,
    resources: Arc<Resources>,
    store: GuardedStore,
    /// How often the store had not got to the end of a stream that has ended here.
    settled: u32,
    /// How often the store was asked for more of a stream that runs at another node.
    followed: u32,
    /// The place among those that ask, and for this stream the newest.
    follower: Option<Follower>,
}

impl Missed {
    /// The next piece.
    async fn next(mut self) -> Result<Replayed, Failure> {
        let has_missed_none = self.live.as_ref().is_some_and(|live| live.place == self.after.place);
        let replay = match self.store.replay(self.session.id(), self.after, PIECE).await {
            Err(_) if has_missed_none => return Ok(Replayed { text: Bytes::new(), then: self.into_live() }),
            replay => replay?,
        };
        let Replay { events, rest, .. } = replay;
        if rest == Rest::Ended
            && let Some(live) = self.live.take_if(|live| live.reader.is_running())
        {
            live.reader.take_away();
        }
        let last = self.live.as_ref().map_or(u64::MAX, |live| live.place);
        let is_missed = |event: &Event| event.id.place > self.after.place && event.id.place <= last;
        let events: Vec<_> = events.into_iter().filter(is_missed).collect();
        let text = self.write(&events)?;
        if let Some(event) = events.last() {
            self.after = event.id;
        }
        let is_known = !events.is_empty();
        match rest {
            Rest::More if self.after.place < last => Ok(Replayed { text, then: Then::More(self.more()) }),
            _ if self.live.is_some() => Ok(Replayed { text, then: self.into_live() }),
            Rest::Running(runs) if self.store.node().is_some() => self.run_elsewhere(text, runs).await,
            Rest::Unknown if !is_known => Err(Failure::Unknown),
            _ => Ok(Replayed { text, then: Then::End }),
        }
    }

    /// The pieces after the first: the head of the response has been sent, so the client comes back where one fails.
    fn more(self) -> BoxFuture<'static, Replayed> {
        let resources = self.resources.clone();
        async move { self.next().await.unwrap_or_else(|_| come_back(Bytes::new(), &resources)) }.boxed()
    }

    fn into_live(self) -> Then {
        self.live.map_or(Then::End, |live| Then::Live(live.reader))
    }

    /// The stream runs at another node, or has run at one that has ended.
    async fn run_elsewhere(mut self, text: Bytes, runs: Option<Runs>) -> Result<Replayed, Failure> {
        let Some(node) = self.store.node() else { return Ok(Replayed { text, then: Then::End }) };
        if runs.as_ref().is_some_and(|runs| runs.requests.is_empty()) {
            // The stream of a GET belongs to no node: it goes on where the client is.
            return Ok(match self.session.listen(&self.resources) {
                Ok(reader) => Replayed { text, then: Then::Live(reader) },
                Err(_) => come_back(text, &self.resources),
            });
        }
        let is_dead = match &runs {
            Some(runs) if runs.node == node.id() => {
                // It has ended here: the store is about to have its end, or has lost it.
                if self.settled < SETTLE_ATTEMPTS {
                    self.settled += 1;
                    return Ok(self.look_again(SETTLE_TIME, text));
                }
                true
            }
            Some(runs) => node.is_dead(runs.node).await?,
            None => true,
        };
        if !is_dead {
            return Ok(match self.follows() {
                true => self.look_again(FOLLOW_TIME, text),
                false => come_back(text, &self.resources),
            });
        }
        let (session, stream) = (self.session.id(), self.after.stream);
        let requests = runs.map_or(Vec::new(), |runs| runs.requests);
        let last = unanswered(&self.store, session, stream, requests).await?;
        self.store.take_over(session, stream, last).await?;
        Ok(Replayed { text, then: Then::More(self.more()) })
    }

    /// Whether the store is asked for more of a stream that runs at another node.
    fn follows(&mut self) -> bool {
        if self.follower.is_none() {
            let stream = (self.session.id(), self.after.stream);
            self.follower = self.resources.followers.follow(stream, self.session.caller());
        }
        self.followed += 1;
        self.follower.as_ref().is_some_and(Follower::is_newest)
            && self.followed <= FOLLOW_ATTEMPTS
            && !self.resources.is_closing()
    }

    /// What there is now, and after a while what the store has then.
    fn look_again(self, pause: Duration, text: Bytes) -> Replayed {
        let next = async move {
            tokio::time::sleep(pause).await;
            self.more().await
        };
        Replayed { text, then: Then::More(next.boxed()) }
    }

    /// The events as they are sent. The store shares its copy; the text that is sent is new for each client that resumes.
    fn write(&self, events: &[Event]) -> Result<Bytes, Failure> {
        let length = events.iter().map(|event| event.data.len() + AROUND_EVENT).sum();
        let reserved = self.resources.requests.reserve_last(self.session.caller(), length);
        let reserved = reserved.map_err(Failure::TooMuch)?;
        let mut text = Vec::with_capacity(length);
        for event in events {
            sse::begin(None, Some(&event.id.to_string()), &mut text);
            text.extend_from_slice(&event.data);
            text.extend_from_slice(sse::END);
        }
        Ok(reserved.held_by(text.into()))
    }
}

/// The errors for those of the requests that no stored event answers. None where there are none.
async fn unanswered(
    store: &GuardedStore,
    session: SessionId,
    stream: u64,
    mut requests: Vec<RequestId>,
) -> Result<Option<Bytes>, StoreError> {
    let mut after = EventId::new(stream, 0);
    while !requests.is_empty() {
        let Replay { events, rest, .. } = store.replay(session, after, PIECE).await?;
        for event in &events {
            after = event.id;
            answered(event, |id| requests.retain(|request| request != id));
        }
        if rest != Rest::More || events.is_empty() {
            break;
        }
    }
    let mut errors: Vec<Message> =
        requests.into_iter().map(|id| Answer::new(id, Err(interrupted())).into()).collect();
    let frame = match errors.len() {
        0 => return Ok(None),
        1 => Frame::Single(errors.remove(0)),
        _ => Frame::Batch(errors.into_iter().map(Ok).collect()),
    };
    let mut text = Vec::new();
    frame.write(&mut text);
    Ok(Some(text.into()))
}

/// The client comes back soon for the rest.
fn come_back(text: Bytes, resources: &Resources) -> Replayed {
    let mut text = Vec::from(text);
    sse::retry(resources.config.moved_retry, &mut text);
    // Ends the block, so that a client sees the field.
    text.push(b'\n');
    Replayed { text: text.into(), then: Then::End }
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
    let why = "interrupted: the node that ran this request has ended; it may have been done";
    ErrorObject::new(code::INTERNAL_ERROR, why)
}
