use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::RequestId;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Request};
use tower_service::Service;

use crate::header;
use crate::revision::Revision;
use crate::server::answering::Answering;
use crate::server::refusal::Refusal;
use crate::server::session::{Session, Unwelcome};
use crate::server::shared::Shared;
use crate::server::{Body, Config, EventId, Links, Principal, SessionId, guard};

/// Makes an endpoint, and the stream of its clients.
pub fn endpoint(config: Config) -> (Endpoint, Links) {
    let shared = Arc::new(Shared::new(config));
    let links = Links::new(shared.clone());
    (Endpoint { door: Arc::new(Door { shared }) }, links)
}

/// The MCP endpoint: a service that is mounted at one path of a web server.
///
/// It is a [`tower_service::Service`] on the types of the crate `http`, so hyper, axum, tonic and whatever else
/// speaks tower can serve it. It never fails, and it does not look at the path. Cloning it gives another handle of
/// the same endpoint; when the last is dropped, the endpoint is shut.
#[derive(Clone, Debug)]
pub struct Endpoint {
    door: Arc<Door>,
}

/// Shuts the endpoint with the last handle.
#[derive(Debug)]
struct Door {
    shared: Arc<Shared>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shared.shut();
    }
}

impl Endpoint {
    /// Takes no more requests, and lets those there are come to their end: the stream of each link ends, which
    /// tells whoever serves it to finish; streams that belong to no request are closed; [`Links`] ends. New
    /// requests get 503.
    pub fn shut(&self) {
        self.door.shared.shut();
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.door.shared
    }
}

impl<B> Service<Request<B>> for Endpoint
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answering<B>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering<B> {
        self.answer(request)
    }
}

impl Endpoint {
    /// What [`Service::call`] does, which needs no exclusive access.
    pub(crate) fn answer<B>(&self, request: Request<B>) -> Answering<B> {
        let (parts, body) = request.into_parts();
        let refused = |refusal| Answering::refused(self.shared(), refusal);
        self.start(parts, body).unwrap_or_else(refused)
    }

    fn start<B>(&self, parts: Parts, body: B) -> Result<Answering<B>, Refusal> {
        let shared = self.shared();
        guard::admit(&shared.config, &parts)?;
        if shared.is_closing() {
            return Err(Refusal::closing());
        }
        match parts.method {
            Method::POST => {
                guard::admit_post(&shared.config, &parts.headers)?;
                Ok(Answering::reading(shared, parts, body))
            }
            Method::GET => self.get(&parts),
            Method::DELETE => {
                let session = self.session(&parts)?;
                shared.end_session(&session);
                Ok(Answering::deleted(shared))
            }
            _ => Err(Refusal::method_not_allowed(if shared.config.sessions {
                "GET, POST, DELETE"
            } else {
                "POST"
            })),
        }
    }

    /// Opens or resumes a stream.
    fn get<B>(&self, parts: &Parts) -> Result<Answering<B>, Refusal> {
        let shared = self.shared();
        let session = self.session(parts)?;
        guard::admit_get(&parts.headers)?;
        let last = guard::single(&parts.headers, &header::LAST_EVENT_ID)?.filter(|last| !last.is_empty());
        let Some(last) = last else {
            return Ok(Answering::listening(shared, session.listen(shared)?));
        };
        let after = std::str::from_utf8(last).ok().and_then(EventId::parse);
        let (Some(after), Some(store)) = (after, &shared.config.store) else {
            return Err(Refusal::unknown_event());
        };
        let resumed = session.resume(after, shared)?;
        Ok(Answering::resuming(shared, resumed, after, |after| store.replay(session.id(), after)))
    }

    /// The session of a GET or a DELETE.
    fn session(&self, parts: &Parts) -> Result<Arc<Session>, Refusal> {
        let shared = self.shared();
        let version = guard::single(&parts.headers, &header::PROTOCOL_VERSION)?;
        let revision = version.map(|version| std::str::from_utf8(version).ok().and_then(Revision::parse));
        if !shared.config.sessions || revision.flatten().is_some_and(Revision::is_stateless) {
            return Err(Refusal::method_not_allowed("POST"));
        }
        if let Some(None) = revision {
            let version = String::from_utf8_lossy(version.unwrap_or_default());
            return Err(Refusal::unsupported_version(&shared.config, RequestId::NULL, &version));
        }
        let id = session_id(&parts.headers)?.ok_or_else(Refusal::no_session)?;
        find_session(shared, id, parts)
    }
}

fn session_id(headers: &HeaderMap) -> Result<Option<SessionId>, Refusal> {
    let Some(id) = guard::single(headers, &header::SESSION_ID)? else {
        return Ok(None);
    };
    SessionId::parse(id).map(Some).ok_or_else(Refusal::unknown_session)
}

/// A session that the caller may speak in.
pub(crate) fn find_session(shared: &Shared, id: SessionId, parts: &Parts) -> Result<Arc<Session>, Refusal> {
    let session = shared.session(id).ok_or_else(Refusal::unknown_session)?;
    if session.belongs_to(parts.extensions.get::<Principal>()) {
        Ok(session)
    } else {
        Err(Refusal::unknown_session())
    }
}

impl From<Unwelcome> for Refusal {
    fn from(unwelcome: Unwelcome) -> Self {
        match unwelcome {
            Unwelcome::Gone => Self::unknown_session(),
            Unwelcome::InFlight(id) => Self::in_flight(id),
            Unwelcome::TooMany(limit) => {
                Self::busy(http::StatusCode::TOO_MANY_REQUESTS, "unanswered requests or open streams", limit)
            }
        }
    }
}
