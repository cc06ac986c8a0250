//! The response to a GET that resumes a stream.

use std::task::{Context, Poll, ready};

use futures::FutureExt;
use futures::future::BoxFuture;
use http::Response;

use crate::server::quota::Reservation;
use crate::server::refusal::Refusal;
use crate::server::resources::Resources;
use crate::server::response::heads::event_stream;
use crate::server::response_stream::StreamReader;
use crate::server::{Body, Event, EventId};
use crate::sse;

/// About as many bytes stand around a remembered event.
const AROUND_EVENT: usize = 64;

/// A resumed stream that waits for the events it has missed.
pub(super) struct Replaying {
    remembered: BoxFuture<'static, Option<Vec<Event>>>,
    after: EventId,
    /// The stream that goes on, and the place of the last event that only the store has.
    live: Option<(StreamReader, u64)>,
    /// The memory of the request. None once it has gone on.
    reservation: Option<Reservation>,
}

impl Replaying {
    pub(super) fn new(
        remembered: BoxFuture<'static, Option<Vec<Event>>>,
        after: EventId,
        live: Option<(StreamReader, u64)>,
        reservation: Reservation,
    ) -> Self {
        Self { remembered, after, live, reservation: Some(reservation) }
    }

    pub(super) fn poll_response(
        &mut self,
        cx: &mut Context<'_>,
        resources: &Resources,
    ) -> Poll<Result<Response<Body>, Refusal>> {
        let events = ready!(self.remembered.poll_unpin(cx));
        let live = self.live.take();
        let Some(reservation) = self.reservation.take() else {
            return Poll::Ready(Err(Refusal::unanswered()));
        };
        if live.is_none() && events.is_none() {
            return Poll::Ready(Err(Refusal::unknown_event()));
        }
        let last = live.as_ref().map_or(u64::MAX, |(_, place)| *place);
        let is_missed = |event: &Event| event.id.place > self.after.place && event.id.place <= last;
        let events: Vec<_> = events.unwrap_or_default().into_iter().filter(is_missed).collect();
        // The store shares its copy; the text that is sent is new for each client that resumes.
        let length = events.iter().map(|event| event.data.len() + AROUND_EVENT).sum();
        let reserved = resources.requests.reserve_last(&reservation.caller(), length);
        let reserved = reserved.map_err(Refusal::too_many_bytes)?;
        let mut text = Vec::with_capacity(length);
        for event in events {
            sse::begin(None, Some(&event.id.to_string()), &mut text);
            text.extend_from_slice(&event.data);
            text.extend_from_slice(sse::END);
        }
        let text = reserved.held_by(text.into());
        let body = match live {
            Some((reader, _)) => {
                reader.reserve(reservation);
                Body::stream(text, reader, None)
            }
            None => Body::text(text.into(), Some(reservation)),
        };
        Poll::Ready(Ok(event_stream(body)))
    }
}
