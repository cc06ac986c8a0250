//! The response to one HTTP request, from its body to the head of the response.

pub(crate) mod body;
mod body_reader;
mod heads;
mod pending_exchange;
mod posted;
pub(crate) mod queue;
pub(crate) mod refusal;
pub(crate) mod replay_piece;
mod resume;
pub(crate) mod text;

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{Frame, Message, Request, RequestId};
use agentwire_store::SessionId;
use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};

use crate::server::admission::cors::CorsHeaders;
use crate::server::admission::operation::check_calls;
use crate::server::admission::quota::Reservation;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::nodes::load::preparation::{PostPreparation, PreparedRequest, RequestPreparation};
use crate::server::nodes::record::take_numbers;
use crate::server::request::post::{PostHeaders, PostTarget, check_batch, routed};
use crate::server::request::session_request::{Get, Post};
use crate::server::response::body_reader::BodyReader;
use crate::server::response::heads::{empty, event_stream};
use crate::server::response::pending_exchange::PendingExchange;
use crate::server::response::posted::{FrameDelivery, NewSession, PostedResponse};
use crate::server::response::refusal::Refusal;
use crate::server::response::resume::ResumedResponse;
use crate::server::response_stream::StreamReader;
use crate::server::session::Session;
use crate::server::session::connection::Connection;
use crate::server::{Body, Head, OperationCheck, Principal};

/// The future of an [`Endpoint`](crate::server::Endpoint)'s response to one request.
///
/// Dropping it means that the client has left before the response.
pub struct ResponseFuture<B> {
    core: Arc<EndpointCore>,
    cors: CorsHeaders,
    state: ResponseState<B>,
}

enum ResponseState<B> {
    /// Reads the body of a POST.
    Reading(BodyReader<B>),
    /// Waits until the session is loaded at this node and prepared for the request.
    Preparing(RequestPreparation),
    /// Waits until the session has room for the message.
    Delivering(FrameDelivery),
    /// Waits for the first frame that answers a POST of a session.
    Waiting(PostedResponse),
    /// Runs the service of a request without a session, until the form of the response is known.
    Exchange(PendingExchange),
    /// Waits for the events that a resumed stream has missed.
    Resuming(ResumedResponse),
    /// None once the response has been returned.
    Ready(Option<Response<Body>>),
}

impl<B> ResponseFuture<B> {
    pub(crate) fn reading(
        core: &Arc<EndpointCore>,
        head: Arc<Head>,
        post_headers: PostHeaders,
        body: B,
    ) -> Self {
        Self::new(core, ResponseState::Reading(BodyReader::new(head, post_headers, body)))
    }

    pub(crate) fn refused(core: &Arc<EndpointCore>, refusal: Refusal) -> Self {
        Self::new(core, ResponseState::Ready(Some(refusal.into_response())))
    }

    pub(crate) fn preflight(core: &Arc<EndpointCore>, headers: HeaderMap) -> Self {
        let mut response = empty(StatusCode::NO_CONTENT);
        *response.headers_mut() = headers;
        Self::new(core, ResponseState::Ready(Some(response)))
    }

    pub(crate) fn deleted(core: &Arc<EndpointCore>) -> Self {
        Self::new(core, ResponseState::Ready(Some(empty(StatusCode::NO_CONTENT))))
    }

    /// Opens or resumes a stream of a session.
    pub(crate) fn streaming(
        core: &Arc<EndpointCore>,
        session: Arc<Session>,
        get: Get,
    ) -> Result<Self, Refusal> {
        Ok(Self::new(core, open_stream(core, session, get)?))
    }

    /// The same for a session that is not open at this node, and may be loaded.
    pub(crate) fn loading(core: &Arc<EndpointCore>, id: SessionId, head: Arc<Head>, get: Get) -> Self {
        Self::new(core, ResponseState::Preparing(RequestPreparation::get(core, id, head, get)))
    }

    /// Ends a session that may be open at other nodes, too.
    pub(crate) fn deleting(core: &Arc<EndpointCore>, id: SessionId, head: &Head) -> Self {
        Self::new(core, ResponseState::Preparing(RequestPreparation::delete(core, id, head)))
    }

    fn new(core: &Arc<EndpointCore>, state: ResponseState<B>) -> Self {
        Self { core: core.clone(), cors: CorsHeaders::allowing(None), state }
    }

    /// The same, whose response has these headers as well.
    pub(crate) fn with_cors(mut self, cors: CorsHeaders) -> Self {
        self.cors = cors;
        self
    }
}

impl<B> fmt::Debug for ResponseFuture<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

impl<B> Future for ResponseFuture<B>
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            // A response is large, so each arm returns it from where it is.
            let mut response = match &mut this.state {
                ResponseState::Reading(reading) => {
                    let body = ready!(reading.poll_body(cx, &this.core));
                    let (head, post_headers) = (reading.head(), reading.post_headers());
                    let state = body.and_then(|(body, reservation)| {
                        begin(&this.core, head, post_headers, body, reservation)
                    });
                    match state {
                        Ok(state) => {
                            this.state = state;
                            continue;
                        }
                        Err(refusal) => refusal.into_response(),
                    }
                }
                ResponseState::Preparing(preparing) => {
                    let next = ready!(preparing.poll(cx));
                    match next.and_then(|next| go_on(&this.core, next)) {
                        Ok(state) => {
                            this.state = state;
                            continue;
                        }
                        Err(refusal) => refusal.into_response(),
                    }
                }
                ResponseState::Delivering(delivering) => {
                    match ready!(delivering.poll_delivered(cx, &this.core)) {
                        Ok(Some(waiting)) => {
                            this.state = ResponseState::Waiting(waiting);
                            continue;
                        }
                        Ok(None) => empty(StatusCode::ACCEPTED),
                        Err(refusal) => refusal.into_response(),
                    }
                }
                ResponseState::Waiting(waiting) => {
                    ready!(waiting.poll_response(cx, &this.core)).unwrap_or_else(Refusal::into_response)
                }
                ResponseState::Exchange(exchange) => ready!(exchange.poll_response(cx, &this.core.resources)),
                ResponseState::Resuming(resuming) => {
                    ready!(resuming.poll_response(cx)).unwrap_or_else(Refusal::into_response)
                }
                ResponseState::Ready(response) => {
                    response.take().expect("a future is not polled after it was ready")
                }
            };
            this.state = ResponseState::Ready(None);
            this.cors.add_to(response.headers_mut());
            return Poll::Ready(Ok(response));
        }
    }
}

/// Delivers the body of a POST: to a service, to its session or to a new session.
fn begin<B>(
    core: &Arc<EndpointCore>,
    head: Arc<Head>,
    post_headers: PostHeaders,
    body: Bytes,
    reservation: Reservation,
) -> Result<ResponseState<B>, Refusal> {
    let routed = routed(&core.resources.config, post_headers, &head, body)?;
    if core.resources.is_closing()
        && let Some(id) = routed.request()
    {
        return Err(Refusal::closing().under(id));
    }
    if let Some(check) = head.extensions().get::<OperationCheck>() {
        let id = routed.request().unwrap_or(RequestId::NULL);
        check_calls(check, routed.calls()).map_err(|refusal| refusal.under(id))?;
    }
    match routed {
        PostTarget::Exchange(Message::Request(request)) => {
            PendingExchange::start(core, head, request, reservation).map(ResponseState::Exchange)
        }
        PostTarget::Exchange(Message::Notification(notification)) => {
            core.service.notification(notification, Some(head));
            Ok(ResponseState::Ready(Some(empty(StatusCode::ACCEPTED))))
        }
        PostTarget::Exchange(Message::Response(_)) => Err(Refusal::no_session()),
        PostTarget::Session(id, frame) => deliver(core, head, id, frame, reservation),
        PostTarget::Initialize(request) => open(core, &head, request, reservation),
    }
}

/// Brings a frame to its session.
fn deliver<B>(
    core: &Arc<EndpointCore>,
    head: Arc<Head>,
    session: SessionId,
    frame: Frame,
    reservation: Reservation,
) -> Result<ResponseState<B>, Refusal> {
    let id = match &frame {
        Frame::Single(Message::Request(request)) => request.id.clone(),
        _ => RequestId::NULL,
    };
    let found = core.sessions.find(session, head.extensions().get::<Principal>());
    let post = Post { id, frame, reservation, head };
    match found.filter(|found| !found.is_awaited_by(&post.frame, &core.resources)) {
        Some(found) => deliver_to(core, found, post),
        None => RequestPreparation::load(core, session, post).map(ResponseState::Preparing),
    }
}

/// Brings a frame to a session that is open at this node.
fn deliver_to<B>(
    core: &Arc<EndpointCore>,
    session: Arc<Session>,
    post: Post,
) -> Result<ResponseState<B>, Refusal> {
    check_batch(&post.frame, || session.revision())?;
    Ok(match RequestPreparation::post(core, session, post) {
        PostPreparation::Ready(session, post) => delivering(session, post),
        PostPreparation::Waits(preparing) => ResponseState::Preparing(preparing),
    })
}

fn delivering<B>(session: Arc<Session>, post: Post) -> ResponseState<B> {
    ResponseState::Delivering(FrameDelivery::new(session, post))
}

/// Goes on with a request that has been prepared.
fn go_on<B>(core: &Arc<EndpointCore>, next: PreparedRequest) -> Result<ResponseState<B>, Refusal> {
    match next {
        PreparedRequest::Loaded(session, post) => deliver_to(core, session, post),
        PreparedRequest::Post(session, post) => Ok(delivering(session, post)),
        PreparedRequest::Get(session, get) => open_stream(core, session, get),
        PreparedRequest::Done(status) => Ok(ResponseState::Ready(Some(empty(status)))),
    }
}

/// Opens or resumes a stream of a session that is open at this node.
fn open_stream<B>(
    core: &Arc<EndpointCore>,
    session: Arc<Session>,
    Get { after, reservation }: Get,
) -> Result<ResponseState<B>, Refusal> {
    let resources = &core.resources;
    take_numbers(core, &session);
    let listening = |reader: StreamReader, reservation| {
        reader.reserve(reservation);
        ResponseState::Ready(Some(event_stream(Body::stream(reader, None))))
    };
    let Some(after) = after else {
        let reader = session.listen(resources)?;
        return Ok(listening(reader, reservation));
    };
    let Some(store) = &resources.config.store else { return Err(Refusal::unknown_event()) };
    let live = match session.resume(after, resources)? {
        // A store that others share may know that the stream has ended here.
        Some(live) if live.place == after.place && !store.is_shared() => {
            return Ok(listening(live.reader, reservation));
        }
        live => live,
    };
    let resuming = ResumedResponse::new(session, after, live, (resources, store.clone()), reservation);
    Ok(ResponseState::Resuming(resuming))
}

/// Opens a session.
fn open<B>(
    core: &Arc<EndpointCore>,
    head: &Head,
    request: Request,
    reservation: Reservation,
) -> Result<ResponseState<B>, Refusal> {
    let id = request.id.clone();
    let refuse = |refusal: Refusal| refusal.under(id.clone());
    let is_running = core.is_running();
    if !is_running && !core.expects_run() {
        return Err(refuse(core.unserved_refusal()));
    }
    let principal = head.extensions().get::<Principal>().cloned();
    let session_id = SessionId::random().ok_or_else(|| refuse(Refusal::unanswered()))?;
    let caller = head.caller();
    let (resources, sessions) = (&core.resources, &core.sessions);
    let session = Session::new(session_id, principal, caller.clone(), id.clone(), resources.now());
    let (session, header) = session.opened(&request, resources).map_err(refuse)?;
    let session = Arc::new(session);
    sessions.add(&session, &caller).map_err(|full| refuse(Refusal::from(full)))?;
    let head = Arc::new(head.copied());
    let reader = session.begin(request, reservation, &head, resources);
    let ended = || if core.resources.is_closing() { Refusal::closing() } else { Refusal::unknown_session() };
    let reader = reader.ok_or_else(|| refuse(ended()))?;
    let connection = Connection::new(resources.clone(), sessions.clone(), session.clone(), head);
    if !core.offer(connection) {
        return Err(refuse(core.unserved_refusal()));
    }
    Ok(ResponseState::Waiting(PostedResponse::opening(
        reader,
        id,
        NewSession { session, id: header },
        is_running,
    )))
}
