//! Checks the head of a request, and begins the response: POST, GET, DELETE, and the preflights of browsers.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::RequestId;
use agentwire_mcp_wire::Revision;
use agentwire_store::{EventId, SessionId};
use bytes::Bytes;
use http::request::Parts;
use http::{Extensions, Method, Request};
use tower_service::Service as TowerService;

use crate::server::admission::guard;
use crate::server::admission::quota::MIN_COST;
use crate::server::request::fields::{Field, Fields};
use crate::server::request::post::PostHeaders;
use crate::server::request::session_request::Get;
use crate::server::response::ResponseFuture;
use crate::server::response::refusal::Refusal;
use crate::server::{Body, Caller, CorsHeaders, Endpoint, Head, Principal, RemoteAddr};

impl<B> TowerService<Request<B>> for Endpoint
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        self.answer(request)
    }
}

impl Endpoint {
    /// As [`TowerService::call`], without exclusive access.
    pub(crate) fn answer<B>(&self, request: Request<B>) -> ResponseFuture<B> {
        self.answer_from(request, None)
    }

    /// The same for a client at `remote`. If that is `None`, the extensions may have an address.
    pub(crate) fn answer_from<B>(
        &self,
        request: Request<B>,
        remote: Option<RemoteAddr>,
    ) -> ResponseFuture<B> {
        let (parts, body) = request.into_parts();
        let cors = self.cors(&parts.headers);
        let refused = |refusal| ResponseFuture::refused(self.core(), refusal);
        self.start(parts, remote, body, &cors).unwrap_or_else(refused).with_cors(cors)
    }

    fn start<B>(
        &self,
        mut parts: Parts,
        remote: Option<RemoteAddr>,
        body: B,
        cors: &CorsHeaders,
    ) -> Result<ResponseFuture<B>, Refusal> {
        let core = self.core();
        let config = &core.resources.config;
        let fields = Fields::of(&parts.headers);
        config.guard.admit_names(&fields, &parts.uri)?;
        let fields_len = fields.len();
        let methods = if config.era.includes(Revision::LATEST_LEGACY) { "GET, POST, DELETE" } else { "POST" };
        if parts.method == Method::OPTIONS
            && let Some(headers) = cors.preflight(&parts.headers, methods)
        {
            return Ok(ResponseFuture::preflight(core, headers));
        }
        if let Some(bearer) = &config.bearer {
            let principal = bearer.principal(&parts.headers)?;
            parts.extensions.insert(principal);
        }
        if core.resources.is_closing() && !self.continues(&parts, &fields)? {
            return Err(Refusal::closing());
        }
        match parts.method {
            Method::POST => {
                let accepts = guard::admit_post(&fields, config.limits.body_limit)?;
                let (post_headers, len) = (PostHeaders::of(&fields, config)?, fields.len());
                let head = Head::new(parts, len, remote).accepting(accepts);
                Ok(ResponseFuture::reading(core, Arc::new(head), post_headers, body))
            }
            Method::GET => {
                let id = self.session_id(&fields)?;
                let found = core.sessions.find(id, parts.extensions.get::<Principal>());
                if found.is_none() && !config.loads_sessions() {
                    return Err(Refusal::unknown_session());
                }
                let get = self.get(&fields, &parts.extensions, remote)?;
                match found {
                    Some(session) => ResponseFuture::streaming(core, session, get),
                    None => {
                        let head = Arc::new(Head::new(parts, fields_len, remote));
                        Ok(ResponseFuture::loading(core, id, head, get))
                    }
                }
            }
            Method::DELETE => {
                let id = self.session_id(&fields)?;
                if config.loads_sessions() {
                    let head = Head::new(parts, fields_len, remote);
                    return Ok(ResponseFuture::deleting(core, id, &head));
                }
                let found = core.sessions.find(id, parts.extensions.get::<Principal>());
                core.sessions.end(&*found.ok_or_else(Refusal::unknown_session)?);
                Ok(ResponseFuture::deleted(core))
            }
            _ => Err(Refusal::method_not_allowed(methods)),
        }
    }

    /// Whether a request continues work that began before the endpoint closed: it belongs to a session that has not ended, and
    /// opens no new stream.
    fn continues(&self, parts: &Parts, fields: &Fields<'_>) -> Result<bool, Refusal> {
        let resumes = fields.single(Field::LastEventId)?.is_some();
        let config = &self.core().resources.config;
        let id = fields.single(Field::SessionId)?.and_then(|id| config.session_id(id));
        let session = id.and_then(|id| self.core().sessions.find(id, parts.extensions.get::<Principal>()));
        Ok(session.is_some() && (parts.method != Method::GET || resumes))
    }

    /// Checks the head of a GET, and reserves its memory.
    fn get(
        &self,
        fields: &Fields<'_>,
        caller: &Extensions,
        remote: Option<RemoteAddr>,
    ) -> Result<Get, Refusal> {
        let resources = &self.core().resources;
        guard::admit_stream(fields)?;
        let last = fields.single(Field::LastEventId)?.filter(|last| !last.is_empty());
        let reservation = resources
            .requests
            .reserve(&Caller::new(caller.get(), remote.or_else(|| caller.get().copied())), MIN_COST);
        let reservation = reservation.map_err(Refusal::too_many_bytes)?;
        let parse = |last| std::str::from_utf8(last).ok().and_then(EventId::parse);
        let after = last.map(|last| parse(last).ok_or_else(Refusal::unknown_event)).transpose()?;
        Ok(Get { after, reservation })
    }

    /// The id of the session of a GET or a DELETE.
    fn session_id(&self, fields: &Fields<'_>) -> Result<SessionId, Refusal> {
        let config = &self.core().resources.config;
        let version = fields.single(Field::ProtocolVersion)?;
        let revision = version.map(|version| std::str::from_utf8(version).ok().and_then(Revision::parse));
        if !config.era.includes(Revision::LATEST_LEGACY)
            || revision.flatten().is_some_and(Revision::is_modern)
        {
            return Err(Refusal::method_not_allowed("POST"));
        }
        if let Some(None) = revision {
            let version = String::from_utf8_lossy(version.unwrap_or_default());
            return Err(Refusal::unsupported_version(config, RequestId::NULL, &version));
        }
        let id = fields.single(Field::SessionId)?.ok_or_else(Refusal::no_session)?;
        config.session_id(id).ok_or_else(Refusal::unknown_session)
    }
}
