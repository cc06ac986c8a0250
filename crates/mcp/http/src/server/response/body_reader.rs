//! Reads the body of a POST, within the limits on its size, its time and its memory.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures::FutureExt;
use http::StatusCode;
use tokio::time::Sleep;

use crate::server::admission::denied::Denied;
use crate::server::admission::quota::{MIN_COST, Reservation};
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::request::body_buffer::BodyBuffer;
use crate::server::request::post::PostHeaders;
use crate::server::response::refusal::Refusal;
use crate::server::{Head, Principal};

pub(super) struct BodyReader<B> {
    head: Arc<Head>,
    post_headers: PostHeaders,
    body: B,
    read: BodyBuffer,
    /// The memory that the request takes, once there is more than what came with its head.
    reservation: Option<Reservation>,
    /// The memory of its body, while that is incomplete and belongs to no session.
    sessionless: Option<Reservation>,
    timeout: Option<Pin<Box<Sleep>>>,
}

impl<B> BodyReader<B> {
    pub(super) fn new(head: Arc<Head>, post_headers: PostHeaders, body: B) -> Self {
        let read = BodyBuffer::default();
        Self { head, post_headers, body, read, reservation: None, sessionless: None, timeout: None }
    }

    pub(super) fn head(&self) -> Arc<Head> {
        self.head.clone()
    }

    pub(super) fn post_headers(&self) -> PostHeaders {
        self.post_headers
    }
}

impl<B> BodyReader<B>
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    /// The body, and the memory that is reserved for the request.
    pub(super) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        core: &EndpointCore,
    ) -> Poll<Result<(Bytes, Reservation), Refusal>> {
        let limit = core.resources.config.limits.body_limit;
        loop {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let more = data.remaining();
                    if self.read.len() + more > limit {
                        return Poll::Ready(Err(Denied::too_long(limit).into()));
                    }
                    let left = usize::try_from(self.body.size_hint().upper().unwrap_or(u64::MAX));
                    let expected =
                        (self.read.len() + more).saturating_add(left.unwrap_or(usize::MAX)).min(limit);
                    if !self.read.is_empty() {
                        self.reserve(core, self.read.capacity_with(more, expected))?;
                    }
                    self.read.push(data.into(), expected);
                }
                Poll::Ready(Some(Err(_))) => {
                    let why = "the body could not be read";
                    return Poll::Ready(Err(Refusal::new(StatusCode::BAD_REQUEST, why)));
                }
                Poll::Ready(None) => {
                    let reservation = self.reservation(core, self.read.len())?;
                    self.sessionless = None;
                    return Poll::Ready(Ok((self.read.take(), reservation)));
                }
                Poll::Pending => break,
            }
        }
        self.reserve(core, self.read.len())?;
        let after = core.resources.config.limits.body_timeout;
        let timeout = self.timeout.get_or_insert_with(|| Box::pin(tokio::time::sleep(after)));
        ready!(timeout.poll_unpin(cx));
        let why = format!("the body took longer than the limit of {after:?}");
        Poll::Ready(Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, why)))
    }

    /// Reserves memory for a request of which more has to be waited for.
    fn reserve(&mut self, core: &EndpointCore, body: usize) -> Result<(), Refusal> {
        let reservation = self.reservation(core, body)?;
        if let Some(sessionless) = &mut self.sessionless {
            sessionless.grow_to(body).map_err(Refusal::too_many_bytes)?;
        } else if body > 0 && !self.is_in_session(core) {
            let sessionless = core.resources.sessionless_bodies.reserve(&self.head.caller(), body);
            self.sessionless = Some(sessionless.map_err(Refusal::too_many_bytes)?);
        }
        self.reservation = Some(reservation);
        Ok(())
    }

    /// The memory for a request with so many bytes of body.
    fn reservation(&mut self, core: &EndpointCore, body: usize) -> Result<Reservation, Refusal> {
        let amount = MIN_COST.max(self.head.len() + body);
        let reservation = match self.reservation.take() {
            Some(mut reservation) => reservation.grow_to(amount).map(|()| reservation),
            None => core.resources.requests.reserve(&self.head.caller(), amount),
        };
        reservation.map_err(Refusal::too_many_bytes)
    }

    fn is_in_session(&self, core: &EndpointCore) -> bool {
        let session = self.post_headers.session().and_then(|id| core.sessions.get(id));
        session.is_some_and(|session| session.belongs_to(self.head.extensions().get::<Principal>()))
    }
}
