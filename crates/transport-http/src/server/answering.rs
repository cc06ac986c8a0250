use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{Frame, Message, Request, RequestId};
use agentwire_transport::{Exchange, MessageSource};
use bytes::{Buf, Bytes};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use tokio::time::Sleep;

use crate::header;
use crate::server::endpoint::find_session;
use crate::server::exchange::RunningExchange;
use crate::server::link::Link;
use crate::server::outlet::{Decision, Outlet, Reader};
use crate::server::post::{Claims, Destination, check_batch, destination};
use crate::server::read::BodyBuffer;
use crate::server::refusal::Refusal;
use crate::server::session::{Resumed, Session};
use crate::server::shared::Shared;
use crate::server::{AnswerForm, Body, Event, EventId, Head, Principal, Reservation, SessionId};
use crate::sse;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Most requests have no more headers.
const USUAL_HEADERS: usize = 12;
/// About as much stands around a remembered event.
const AROUND_EVENT: usize = 64;
const NO: HeaderValue = HeaderValue::from_static("no");
/// The least memory that a request takes while it is read or unanswered, and a stream of a GET while it is open: what hyper reads its head into, and what is
/// remembered of it.
pub(crate) const LEAST_COST: usize = 8 << 10;

/// The response of an [`Endpoint`](crate::server::Endpoint) to one request, in the making.
///
/// Dropping it is how a client leaves before it has got a response.
pub struct Answering<B> {
    shared: Arc<Shared>,
    step: Step<B>,
}

enum Step<B> {
    /// The body of a POST arrives.
    Reading(Reading<B>),
    /// A session has to have room for what was sent.
    Delivering(Delivering),
    /// A request waits for the first thing that is said of it.
    Waiting(Waiting),
    /// A resumed stream waits for what is remembered.
    Replaying(Replaying),
    /// It is there.
    Ready(Option<Response<Body>>),
}

struct Reading<B> {
    head: Arc<Head>,
    claims: Claims,
    body: B,
    read: BodyBuffer,
    /// The memory that the request takes, once there is more than what came with its head.
    reservation: Option<Reservation>,
    /// That of its body, while it is read and belongs to no session.
    opening: Option<Reservation>,
    timeout: Option<Pin<Box<Sleep>>>,
}

struct Delivering {
    session: Arc<Session>,
    id: RequestId,
    frame: Option<Frame>,
    reservation: Option<Reservation>,
    head: Arc<Head>,
}

struct Waiting {
    /// What serves a request without a session. It is dropped before the reader.
    running: Option<RunningExchange>,
    /// None once it has become the body.
    reader: Option<Reader>,
    id: RequestId,
    /// The session that the request opens.
    opens: Option<Arc<Session>>,
    patience: Patience,
}

/// How long a response waits to become what it will be.
#[derive(Clone, Copy)]
enum Patience {
    /// Until something is said.
    Endless,
    /// For so many turns of the executor. An answer that comes within them goes out with the head of the response.
    Turns(u8),
}

struct Replaying {
    remembered: BoxFuture<'static, Option<Vec<Event>>>,
    after: EventId,
    /// Who reads what comes, and the place of the last event that is remembered only.
    live: Option<(Reader, u64)>,
    /// The memory of the request. None once it has gone on.
    reservation: Option<Reservation>,
}

impl<B> Answering<B> {
    pub(crate) fn reading(shared: &Arc<Shared>, head: Arc<Head>, claims: Claims, body: B) -> Self {
        let read = BodyBuffer::default();
        let reading = Reading { head, claims, body, read, reservation: None, opening: None, timeout: None };
        Self::new(shared, Step::Reading(reading))
    }

    pub(crate) fn refused(shared: &Arc<Shared>, refusal: Refusal) -> Self {
        Self::new(shared, Step::Ready(Some(refusal.into_response())))
    }

    pub(crate) fn deleted(shared: &Arc<Shared>) -> Self {
        Self::new(shared, Step::Ready(Some(empty(StatusCode::NO_CONTENT))))
    }

    pub(crate) fn listening(shared: &Arc<Shared>, reader: Reader) -> Self {
        Self::new(shared, Step::Ready(Some(stream(Body::stream(Bytes::new(), reader, None)))))
    }

    pub(crate) fn resuming(
        shared: &Arc<Shared>,
        resumed: Resumed,
        after: EventId,
        reservation: Reservation,
        replay: impl FnOnce(EventId) -> BoxFuture<'static, Option<Vec<Event>>>,
    ) -> Self {
        let live = match resumed {
            Resumed::Live(reader, place) if place == after.place => {
                reader.reserve(reservation);
                return Self::listening(shared, reader);
            }
            Resumed::Live(reader, place) => Some((reader, place)),
            Resumed::Ended => None,
        };
        Self::new(
            shared,
            Step::Replaying(Replaying {
                remembered: replay(after),
                after,
                live,
                reservation: Some(reservation),
            }),
        )
    }

    fn new(shared: &Arc<Shared>, step: Step<B>) -> Self {
        Self { shared: shared.clone(), step }
    }
}

impl<B> fmt::Debug for Answering<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answering").finish_non_exhaustive()
    }
}

impl<B> Future for Answering<B>
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            // What is ready is given out from where it is: a response is large to be moved.
            let response = match &mut this.step {
                Step::Reading(reading) => {
                    let body = ready!(reading.poll_body(cx, &this.shared));
                    let (head, claims) = (&reading.head, reading.claims);
                    match body
                        .and_then(|(body, reservation)| direct(&this.shared, head, claims, body, reservation))
                    {
                        Ok(step) => {
                            this.step = step;
                            continue;
                        }
                        Err(refusal) => refusal.into_response(),
                    }
                }
                Step::Delivering(Delivering { session, id, frame, reservation, head }) => {
                    match ready!(session.poll_take(cx, frame, reservation, head, &this.shared)) {
                        Ok(Some(reader)) => {
                            let patience = match reader.form() {
                                AnswerForm::Events => Patience::Turns(2),
                                AnswerForm::Json => Patience::Endless,
                            };
                            let id = std::mem::replace(id, RequestId::NULL);
                            this.step = Step::Waiting(Waiting::new(reader, id, patience));
                            continue;
                        }
                        Ok(None) => empty(StatusCode::ACCEPTED),
                        Err(unwelcome) => Refusal::from(unwelcome).under(id.clone()).into_response(),
                    }
                }
                Step::Waiting(waiting) => {
                    ready!(waiting.poll_response(cx)).unwrap_or_else(Refusal::into_response)
                }
                Step::Replaying(replaying) => {
                    ready!(replaying.poll_response(cx, &this.shared)).unwrap_or_else(Refusal::into_response)
                }
                Step::Ready(response) => response.take().expect("a future is not polled after it was ready"),
            };
            this.step = Step::Ready(None);
            return Poll::Ready(Ok(response));
        }
    }
}

impl<B> Reading<B>
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    /// The body, and the memory that is reserved for the request.
    fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        shared: &Shared,
    ) -> Poll<Result<(Bytes, Reservation), Refusal>> {
        let limit = shared.config.body_limit;
        loop {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let more = data.remaining();
                    if self.read.len() + more > limit {
                        return Poll::Ready(Err(Refusal::too_long(limit)));
                    }
                    let left = usize::try_from(self.body.size_hint().upper().unwrap_or(u64::MAX));
                    let expected =
                        (self.read.len() + more).saturating_add(left.unwrap_or(usize::MAX)).min(limit);
                    if !self.read.is_empty() {
                        self.reserve(shared, self.read.capacity_with(more, expected))?;
                    }
                    self.read.push(data.into(), expected);
                }
                Poll::Ready(Some(Err(_))) => {
                    let why = "the body could not be read";
                    return Poll::Ready(Err(Refusal::new(StatusCode::BAD_REQUEST, why)));
                }
                Poll::Ready(None) => {
                    let reservation = self.reservation(shared, self.read.len())?;
                    self.opening = None;
                    return Poll::Ready(Ok((self.read.take(), reservation)));
                }
                Poll::Pending => break,
            }
        }
        self.reserve(shared, self.read.len())?;
        let after = shared.config.body_timeout;
        let timeout = self.timeout.get_or_insert_with(|| Box::pin(tokio::time::sleep(after)));
        ready!(timeout.poll_unpin(cx));
        let why = format!("the body took longer than the limit of {after:?}");
        Poll::Ready(Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, why)))
    }

    /// Reserves memory for a request of which more has to be waited for.
    fn reserve(&mut self, shared: &Shared, body: usize) -> Result<(), Refusal> {
        let reservation = self.reservation(shared, body)?;
        if let Some(opening) = &mut self.opening {
            opening.grow_to(body).map_err(Refusal::too_many_bytes)?;
        } else if body > 0 && !self.is_in_session(shared) {
            let opening = shared.opening.reserve(&self.head.caller(), body);
            self.opening = Some(opening.map_err(Refusal::too_many_bytes)?);
        }
        self.reservation = Some(reservation);
        Ok(())
    }

    /// The memory for a request with so many bytes of body.
    fn reservation(&mut self, shared: &Shared, body: usize) -> Result<Reservation, Refusal> {
        let amount = LEAST_COST.max(self.head.len() + body);
        let reservation = match self.reservation.take() {
            Some(mut reservation) => reservation.grow_to(amount).map(|()| reservation),
            None => shared.requests.reserve(&self.head.caller(), amount),
        };
        reservation.map_err(Refusal::too_many_bytes)
    }

    fn is_in_session(&self, shared: &Shared) -> bool {
        let session = self.claims.session().and_then(|id| shared.session(id));
        session.is_some_and(|session| session.belongs_to(self.head.extensions().get::<Principal>()))
    }
}

/// Gives a body to whom it is for.
fn direct<B>(
    shared: &Arc<Shared>,
    head: &Arc<Head>,
    claims: Claims,
    body: Bytes,
    reservation: Reservation,
) -> Result<Step<B>, Refusal> {
    match destination(&shared.config, claims, head, body)? {
        Destination::Session(id, frame) => {
            let asked = match &frame {
                Frame::Single(Message::Request(request)) => request.id.clone(),
                _ => RequestId::NULL,
            };
            let session = find_session(shared, id, head.extensions())
                .map_err(|refusal| refusal.under(asked.clone()))?;
            check_batch(&frame, || session.revision())?;
            let (frame, reservation) = (Some(frame), Some(reservation));
            Ok(Step::Delivering(Delivering { session, id: asked, frame, reservation, head: head.clone() }))
        }
        Destination::Initialize(request) => open(shared, head, request, reservation),
        Destination::Exchange(message) => exchange(shared, head, message, reservation),
    }
}

/// Opens a session.
fn open<B>(
    shared: &Arc<Shared>,
    head: &Head,
    request: Request,
    reservation: Reservation,
) -> Result<Step<B>, Refusal> {
    let id = request.id.clone();
    let refuse = |refusal: Refusal| refusal.under(id.clone());
    let principal = head.extensions().get::<Principal>().cloned();
    let session_id = SessionId::random().ok_or_else(|| refuse(Refusal::unanswered()))?;
    let caller = head.caller();
    let session = Arc::new(Session::new(session_id, principal, caller.clone(), id.clone(), shared.now()));
    shared.add_session(&session, &caller).map_err(|full| refuse(Refusal::from(full)))?;
    let head = Arc::new(head.kept());
    let reader = session.begin(request, reservation, &head, shared);
    if !shared.offer(Link::new(shared.clone(), session.clone(), head)) {
        return Err(refuse(Refusal::closing()));
    }
    // What the answer says decides whether there is a session, so nothing is sent before it.
    let waiting = Waiting::new(reader, id, Patience::Endless);
    Ok(Step::Waiting(Waiting { opens: Some(session), ..waiting }))
}

/// Serves a message without a session.
fn exchange<B>(
    shared: &Arc<Shared>,
    head: &Arc<Head>,
    message: Message,
    reservation: Reservation,
) -> Result<Step<B>, Refusal> {
    let source: Arc<dyn MessageSource> = head.clone();
    let request = match message {
        Message::Request(request) => request,
        Message::Notification(notification) => {
            shared.serving.notification(notification, Some(source));
            return Ok(Step::Ready(Some(empty(StatusCode::ACCEPTED))));
        }
        Message::Response(_) => return Err(Refusal::no_session()),
    };
    let id = request.id.clone();
    shared.add_exchange().map_err(|limit| {
        Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, "unanswered requests", limit.0).under(id.clone())
    })?;
    let outlet = Arc::new(Outlet::exchange(shared.config.stateless_answer, head.caller()));
    outlet.reserve(Some(reservation));
    let reader = outlet.attach(shared);
    let (exchange, notifications) = Exchange::new(request, Some(source), shared.config.high_water);
    let running = RunningExchange::start(exchange, notifications, outlet, shared);
    // The status says which error it was, so nothing is sent before something is known.
    Ok(Step::Waiting(Waiting { running: Some(running), ..Waiting::new(reader, id, Patience::Endless) }))
}

impl Waiting {
    fn new(reader: Reader, id: RequestId, patience: Patience) -> Self {
        Self { running: None, reader: Some(reader), id, opens: None, patience }
    }

    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Result<Response<Body>, Refusal>> {
        self.running.take_if(|running| running.poll(cx).is_ready());
        let Some(reader) = &mut self.reader else {
            return Poll::Ready(Err(Refusal::unanswered()));
        };
        let now = matches!(self.patience, Patience::Turns(0));
        let Poll::Ready(decision) = reader.poll_decision(cx, now) else {
            if let Patience::Turns(turns) = &mut self.patience {
                *turns -= 1;
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        };
        let mut response = match decision {
            Decision::Whole(status, text, reservation) => json(status, Body::whole(text, reservation)),
            Decision::Event(event, reservation) => events(Body::whole(event.into(), reservation)),
            Decision::Said(queue, reservation) => events(Body::said(queue, reservation)),
            Decision::Events => match self.reader.take() {
                Some(reader) => events(Body::stream(Bytes::new(), reader, self.running.take())),
                None => return Poll::Ready(Err(Refusal::unanswered())),
            },
            Decision::Nothing => return Poll::Ready(Err(self.unanswered())),
        };
        if let Some(session) = self.opens.take().filter(|session| session.is_open()) {
            response.headers_mut().insert(header::SESSION_ID, session.id().header());
        }
        Poll::Ready(Ok(response))
    }

    fn unanswered(&self) -> Refusal {
        Refusal::unanswered().under(self.id.clone())
    }
}

impl Replaying {
    fn poll_response(
        &mut self,
        cx: &mut Context<'_>,
        shared: &Shared,
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
        // The store has it once for all; what is sent is made anew for each client that asks.
        let length = events.iter().map(|event| event.data.len() + AROUND_EVENT).sum();
        let reserved = shared.requests.reserve_last(&reservation.caller(), length);
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
            None => Body::whole(text.into(), Some(reservation)),
        };
        Poll::Ready(Ok(stream(body)))
    }
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn json(status: StatusCode, body: Body) -> Response<Body> {
    with_headers(status, body, [(CONTENT_TYPE, JSON)])
}

/// The stream of a GET.
fn stream(body: Body) -> Response<Body> {
    let mut response = events(body);
    response.headers_mut().insert(CACHE_CONTROL, NO_CACHE);
    response
}

/// The events that answer a POST, which nobody may keep for others anyway.
fn events(body: Body) -> Response<Body> {
    with_headers(StatusCode::OK, body, [(CONTENT_TYPE, EVENTS), (ACCEL_BUFFERING, NO)])
}

fn with_headers<const N: usize>(
    status: StatusCode,
    body: Body,
    headers: [(HeaderName, HeaderValue); N],
) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    // hyper reads the next request of the connection into the memory that this takes.
    response.headers_mut().reserve(USUAL_HEADERS);
    response.headers_mut().extend(headers);
    response
}
