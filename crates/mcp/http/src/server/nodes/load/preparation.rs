//! Prepares a request before its session gets it: loads the session, stores changes, and forwards messages to other nodes.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{Frame, Message};
use agentwire_store::{BusMessage, NodeId, SessionId, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::StatusCode;

use crate::header;
use crate::server::Head;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::nodes::address::{self, Forward};
use crate::server::nodes::record::change::{check, record_ready};
use crate::server::nodes::record::message::{changes, is_change};
use crate::server::nodes::{load, record, sealed};
use crate::server::request::session_request::{Get, Post};
use crate::server::response::refusal::Refusal;
use crate::server::session::Session;

/// A request whose preparation waits for the store or for other nodes.
pub(crate) struct RequestPreparation {
    prepared: BoxFuture<'static, Result<PreparationResult, Refusal>>,
    /// The rest of the request. `None` once it was returned.
    then: Option<Continuation>,
}

enum PreparationResult {
    Session(Arc<Session>),
    Done(StatusCode),
}

/// The rest of the request, which continues once the session is open here.
enum Continuation {
    /// A POST whose session has been loaded for it.
    Loaded(Post),
    Post(Post),
    Get(Get),
    Nothing,
}

/// A request that is prepared, with its session.
pub(crate) enum PreparedRequest {
    Loaded(Arc<Session>, Post),
    Post(Arc<Session>, Post),
    Get(Arc<Session>, Get),
    Done(StatusCode),
}

/// The preparation that a POST needs.
pub(crate) enum PostPreparation {
    /// Nothing: the session is open here, and the whole frame is for it.
    Ready(Arc<Session>, Post),
    Waits(RequestPreparation),
}

impl RequestPreparation {
    /// Divides the frame of a POST between its session, which is open here, and other nodes.
    #[inline]
    pub(crate) fn post(core: &Arc<EndpointCore>, session: Arc<Session>, post: Post) -> PostPreparation {
        match core.resources.nodes.id {
            None => PostPreparation::Ready(session, post),
            Some(node) => Self::divided(core, node, session, post),
        }
    }

    fn divided(core: &Arc<EndpointCore>, node: NodeId, session: Arc<Session>, post: Post) -> PostPreparation {
        // Most POSTs are one request that does not concern other nodes.
        if let Frame::Single(Message::Request(request)) = &post.frame
            && !is_change(request)
        {
            return PostPreparation::Ready(session, post);
        }
        let Post { id: request, frame, reservation, head } = post;
        let (frame, forwards) = address::incoming(node, frame, |id| session.has_request(id));
        let is_shared = core.resources.config.is_shared();
        let changes = frame.as_ref().filter(|_| is_shared).map(changes).unwrap_or_default();
        let then = frame.map(|frame| Post { id: request.clone(), frame, reservation, head });
        let then = match then {
            Some(post) if forwards.is_empty() && changes.is_empty() => {
                return PostPreparation::Ready(session, post);
            }
            then => then,
        };
        let is_done = then.is_none();
        let core = core.clone();
        let prepared = async move {
            // Changes that requests ask for are stored after the service has made them.
            check(&session, &core.resources.config.record_limits, &changes)?;
            forward(&core, session.id(), forwards).await?;
            for (_, ready) in changes.into_iter().filter(|(id, _)| id.is_none()) {
                record_ready(&core.sessions, &session, ready).await?;
            }
            Ok(if is_done {
                PreparationResult::Done(StatusCode::ACCEPTED)
            } else {
                PreparationResult::Session(session)
            })
        };
        let prepared = prepared.map(|result: Result<_, Refusal>| result.map_err(|why| why.under(request)));
        let then = then.map_or(Continuation::Nothing, Continuation::Post);
        PostPreparation::Waits(Self { prepared: prepared.boxed(), then: Some(then) })
    }

    /// Loads the session of a POST, if other nodes may have it.
    pub(crate) fn load(core: &Arc<EndpointCore>, id: SessionId, post: Post) -> Result<Self, Refusal> {
        if core.resources.nodes.id.is_none() {
            return Err(Refusal::unknown_session().under(post.id));
        }
        let (core, head, request) = (core.clone(), post.head.clone(), post.id.clone());
        let prepared = async move {
            let loaded = load::find(&core, id, &head).await;
            loaded.map(PreparationResult::Session).map_err(|why| why.under(request))
        };
        Ok(Self { prepared: prepared.boxed(), then: Some(Continuation::Loaded(post)) })
    }

    /// Loads the session of a GET.
    pub(crate) fn get(core: &Arc<EndpointCore>, id: SessionId, head: Arc<Head>, get: Get) -> Self {
        let core = core.clone();
        let prepared = async move { load::find(&core, id, &head).await.map(PreparationResult::Session) };
        Self { prepared: prepared.boxed(), then: Some(Continuation::Get(get)) }
    }

    /// Ends a session at all nodes.
    pub(crate) fn delete(core: &Arc<EndpointCore>, id: SessionId, head: &Head) -> Self {
        let principal = head.extensions().get().cloned();
        let deleted = if core.resources.config.is_shared() {
            record::delete(core.clone(), id, principal).boxed()
        } else {
            let value = head.headers().get(header::SESSION_ID).cloned();
            sealed::delete(core.clone(), id, value, (principal, head.caller())).boxed()
        };
        let prepared =
            deleted.map(|deleted| deleted.map(|()| PreparationResult::Done(StatusCode::NO_CONTENT)));
        Self { prepared: prepared.boxed(), then: Some(Continuation::Nothing) }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<PreparedRequest, Refusal>> {
        let prepared = ready!(self.prepared.poll_unpin(cx))?;
        Poll::Ready(Ok(match (prepared, self.then.take()) {
            (PreparationResult::Session(session), Some(Continuation::Loaded(post))) => {
                PreparedRequest::Loaded(session, post)
            }
            (PreparationResult::Session(session), Some(Continuation::Post(post))) => {
                PreparedRequest::Post(session, post)
            }
            (PreparationResult::Session(session), Some(Continuation::Get(get))) => {
                PreparedRequest::Get(session, get)
            }
            (PreparationResult::Done(status), _) => PreparedRequest::Done(status),
            (PreparationResult::Session(_), _) => return Poll::Ready(Err(Refusal::unanswered())),
        }))
    }
}

/// Forwards messages of a client to other nodes. Drops those for a dead node, because no caller waits for them. A single node
/// also drops the response to a request that it does not know.
async fn forward(
    core: &Arc<EndpointCore>,
    session: SessionId,
    forwards: Vec<Forward>,
) -> Result<(), Refusal> {
    let Some(node) = core.resources.config.shared_node() else {
        // Nodes without a store cannot forward. Cancellations and progress for other nodes are dropped; a lost response is an
        // error.
        let is_lost = forwards.iter().any(|forward| forward.is_answer);
        return if is_lost { Err(Refusal::asked_elsewhere()) } else { Ok(()) };
    };
    let refuse = |error: StoreError| Refusal::store(&error, &core.resources.config);
    for Forward { to, message, .. } in forwards {
        let message = BusMessage::Client(session, message);
        let reached = match to {
            Some(to) => node.stores().bus.send(to, message).await,
            None => node.publish(message).await.map(|()| true),
        };
        if reached.map_err(refuse)? {
            continue;
        }
        // A node that has lost its connection to the store subscribes again.
        let is_dead = match to {
            Some(to) => node.is_dead(to).await.map_err(refuse)?,
            None => false,
        };
        if !is_dead {
            return Err(refuse(StoreError::away("the node does not subscribe")));
        }
    }
    Ok(())
}
