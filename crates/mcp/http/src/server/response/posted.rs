//! The response to a POST of a session.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_jsonrpc::RequestId;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderValue, Response};
use tokio::time::Sleep;

use crate::header;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::nodes::record::take_numbers;
use crate::server::request::session_request::Post;
use crate::server::response::heads::formed;
use crate::server::response::refusal::Refusal;
use crate::server::response_stream::StreamReader;
use crate::server::session::Session;
use crate::server::{AnswerForm, Body, Head};

/// How long the first sessions wait for a task that serves them. The program may be about to start it.
const RUN_TIMEOUT: Duration = Duration::from_secs(1);

/// A frame that waits until its session has room for it.
pub(super) struct FrameDelivery {
    session: Arc<Session>,
    /// None once the session has it.
    post: Option<Post>,
}

/// A request that waits for the first frame of its response.
pub(super) struct PostedResponse {
    /// None once it has become the body.
    reader: Option<StreamReader>,
    id: RequestId,
    /// The head of the request. The response reuses its header table where nothing else holds it. `None` for one that opens a session.
    head: Option<Arc<Head>>,
    /// The session that the request opens.
    opens: Option<Box<NewSession>>,
    /// The response that opens a session, until that can go on.
    creating: Option<Box<SessionCreation>>,
    /// When a task must serve the sessions of the endpoint. `None` if one does.
    run_by: Option<Pin<Box<Sleep>>>,
    head_delay: HeadDelay,
}

/// A session that a request opens, and the id that its client gets.
pub(super) struct NewSession {
    pub(super) session: Arc<Session>,
    pub(super) id: HeaderValue,
}

/// A response that waits until its session can go on.
struct SessionCreation {
    response: Option<Response<Body>>,
    created: BoxFuture<'static, Result<(), Refusal>>,
    session: Arc<Session>,
}

/// How long to wait before committing to JSON or to an event stream.
#[derive(Clone, Copy)]
enum HeadDelay {
    /// Until there is something to send.
    Unlimited,
    /// For so many polls. An answer that comes within them goes out with the head of the response.
    Polls(u8),
}

impl FrameDelivery {
    pub(super) fn new(session: Arc<Session>, post: Post) -> Self {
        Self { session, post: Some(post) }
    }

    /// Ready when the session has the frame. `None` if nothing answers it.
    pub(super) fn poll_delivered(
        &mut self,
        cx: &mut Context<'_>,
        core: &Arc<EndpointCore>,
    ) -> Poll<Result<Option<PostedResponse>, Refusal>> {
        let resources = &core.resources;
        take_numbers(core, &self.session);
        let Some(post) = &self.post else { return Poll::Ready(Err(Refusal::unanswered())) };
        let admitted = ready!(self.session.poll_admit(cx, &post.frame, resources));
        let admitted = admitted.map_err(|error| Refusal::from(error).under(post.id.clone()))?;
        let Some(Post { id, frame, reservation, head }) = self.post.take() else {
            return Poll::Ready(Err(Refusal::unanswered()));
        };
        let reader = admitted.take(frame, reservation, &head, resources);
        Poll::Ready(Ok(reader.map(|reader| {
            let head_delay = match reader.answer_form() {
                AnswerForm::Events => HeadDelay::Polls(2),
                AnswerForm::Json => HeadDelay::Unlimited,
            };
            let (reader, head) = (Some(reader), Some(head));
            PostedResponse { reader, id, head, opens: None, creating: None, run_by: None, head_delay }
        })))
    }
}

impl PostedResponse {
    /// A request that opens a session. Its answer may refuse the session, so nothing is sent before it.
    pub(super) fn opening(
        reader: StreamReader,
        id: RequestId,
        opening: NewSession,
        is_running: bool,
    ) -> Self {
        let run_by = (!is_running).then(|| Box::pin(tokio::time::sleep(RUN_TIMEOUT)));
        let (opens, head_delay) = (Some(Box::new(opening)), HeadDelay::Unlimited);
        Self { reader: Some(reader), id, head: None, opens, creating: None, run_by, head_delay }
    }

    pub(super) fn poll_response(
        &mut self,
        cx: &mut Context<'_>,
        core: &EndpointCore,
    ) -> Poll<Result<Response<Body>, Refusal>> {
        if let Some(creating) = &mut self.creating {
            let created = ready!(creating.created.poll_unpin(cx));
            let response = creating.response.take().ok_or_else(Refusal::unanswered);
            return Poll::Ready(created.and(response).map_err(|why| {
                core.sessions.end(&creating.session);
                why.under(self.id.clone())
            }));
        }
        let Some(reader) = &mut self.reader else {
            return Poll::Ready(Err(Refusal::unanswered()));
        };
        let now = matches!(self.head_delay, HeadDelay::Polls(0));
        let Poll::Ready(form) = reader.poll_form(cx, now) else {
            if let Some(run_by) = &mut self.run_by
                && run_by.poll_unpin(cx).is_ready()
            {
                self.run_by = None;
                if !core.is_running() {
                    self.opens.iter().for_each(|opening| core.sessions.end(&opening.session));
                    return Poll::Ready(Err(core.unserved_refusal().under(self.id.clone())));
                }
            }
            if let HeadDelay::Polls(polls @ 1..) = &mut self.head_delay
                && !reader.waits_for_store()
            {
                *polls -= 1;
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        };
        let reader = &mut self.reader;
        let headers = self.head.as_mut().map(Head::header_memory).unwrap_or_default();
        let response = formed(form, headers, || Some(Body::stream(reader.take()?, None)));
        let Some(mut response) = response else {
            return Poll::Ready(Err(Refusal::unanswered().under(self.id.clone())));
        };
        if let Some(opening) = self.opens.take().filter(|opening| opening.session.is_open()) {
            let NewSession { session, id } = *opening;
            response.headers_mut().insert(header::SESSION_ID, id);
            if let Some(created) = session.create(core) {
                self.creating =
                    Some(Box::new(SessionCreation { response: Some(response), created, session }));
                return self.poll_response(cx, core);
            }
        }
        Poll::Ready(Ok(response))
    }
}
