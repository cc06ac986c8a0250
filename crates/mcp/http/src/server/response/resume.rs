//! The response to a GET that resumes a stream.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_store::{Event, EventId, Replay, Rest, StoreError, StreamRun};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::Response;

use crate::server::Body;
use crate::server::admission::quota::{QuotaExceeded, Reservation};
use crate::server::endpoint::resources::Resources;
use crate::server::endpoint_store::EndpointStore;
use crate::server::nodes::resume::{StreamLocation, StreamLocator};
use crate::server::response::heads::event_stream;
use crate::server::response::refusal::Refusal;
use crate::server::response::replay_piece::{AfterReplay, ReplayPiece};
use crate::server::response_stream::ResumedStream;
use crate::server::session::Session;
use crate::sse;

/// The usual bytes of an event's fields beside its data.
const AROUND_EVENT: usize = 64;

/// A resumed stream that waits for the events it has missed.
pub(super) struct ResumedResponse {
    first: BoxFuture<'static, Result<ReplayPiece, Refusal>>,
    /// The memory of the request. None once it has gone on.
    reservation: Option<Reservation>,
}

impl ResumedResponse {
    /// Resumes the stream after the event `after`. `live` is the stream if it runs at this node.
    pub(super) fn new(
        session: Arc<Session>,
        after: EventId,
        live: Option<ResumedStream>,
        (resources, store): (&Arc<Resources>, EndpointStore),
        reservation: Reservation,
    ) -> Self {
        let resources = resources.clone();
        let missed = MissedEvents {
            session,
            after,
            live,
            resources: resources.clone(),
            store,
            locator: StreamLocator::default(),
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

/// The part of a stream that a client has missed.
struct MissedEvents {
    session: Arc<Session>,
    /// The last event that the client has, or is about to be sent.
    after: EventId,
    /// The stream, if it runs at this node.
    live: Option<ResumedStream>,
    resources: Arc<Resources>,
    store: EndpointStore,
    locator: StreamLocator,
}

impl MissedEvents {
    /// The next piece.
    async fn next(mut self) -> Result<ReplayPiece, Failure> {
        let has_missed_none = self.live.as_ref().is_some_and(|live| live.place == self.after.place);
        let replay = match self.store.replay(self.session.id(), self.after).await {
            Err(_) if has_missed_none => {
                return Ok(ReplayPiece { text: Bytes::new(), then: self.into_live() });
            }
            replay => replay?,
        };
        let Replay { events, rest, .. } = replay;
        if rest == Rest::Ended
            && let Some(live) = self.live.take_if(|live| live.reader.is_running())
        {
            live.reader.cut_taken_over();
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
            Rest::More if self.after.place < last => {
                Ok(ReplayPiece { text, then: AfterReplay::More(self.more()) })
            }
            _ if self.live.is_some() => Ok(ReplayPiece { text, then: self.into_live() }),
            Rest::Running(runs) => self.follow(text, runs).await,
            Rest::Unknown if !is_known => Err(Failure::Unknown),
            _ => Ok(ReplayPiece { text, then: AfterReplay::End }),
        }
    }

    /// The pieces after the first. The head of the response has been sent, so a failure makes the client come back.
    fn more(self) -> BoxFuture<'static, ReplayPiece> {
        let resources = self.resources.clone();
        async move { self.next().await.unwrap_or_else(|_| come_back(Bytes::new(), &resources)) }.boxed()
    }

    fn into_live(self) -> AfterReplay {
        self.live.map_or(AfterReplay::End, |live| AfterReplay::Live(live.reader))
    }

    /// Finds the rest of a stream that has not ended and does not run at this node.
    async fn follow(mut self, text: Bytes, runs: Option<StreamRun>) -> Result<ReplayPiece, Failure> {
        let Self { session, after, resources, store, locator, .. } = &mut self;
        let then = match locator.find((session, after.stream), runs, store, resources).await? {
            StreamLocation::Nothing => AfterReplay::End,
            StreamLocation::Here(reader) => AfterReplay::Live(reader),
            StreamLocation::Stored => AfterReplay::More(self.more()),
            StreamLocation::Later(pause) => return Ok(self.look_again(pause, text)),
            StreamLocation::Away => return Ok(come_back(text, &self.resources)),
        };
        Ok(ReplayPiece { text, then })
    }

    /// The stored events, and after a pause those that were stored since.
    fn look_again(self, pause: Duration, text: Bytes) -> ReplayPiece {
        let next = async move {
            tokio::time::sleep(pause).await;
            self.more().await
        };
        ReplayPiece { text, then: AfterReplay::More(next.boxed()) }
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

/// Ends the response with a `retry`, so that the client comes back soon for the rest.
fn come_back(text: Bytes, resources: &Resources) -> ReplayPiece {
    let mut text = Vec::from(text);
    sse::retry(resources.config.moved_retry, &mut text);
    // Ends the block, so that a client sees the field.
    text.push(b'\n');
    ReplayPiece { text: text.into(), then: AfterReplay::End }
}
