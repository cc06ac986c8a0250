//! The client of a request, in either form of the protocol.
//!
//! Up to revision 2025-11-25 a connection is a session, and what its handshake agreed on holds for all of it. Later, each
//! request describes its client. `_meta` shows which of the two a request is, so one connection may carry both.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestMethod, read};
use agentwire_mcp_schema::{
    ClientCapabilities, Downgrade, HasMeta, HeaderMark, Implementation, LoggingLevel, ProgressToken,
    Revision, code,
};
use agentwire_mcp_wire::{Member, header};
use agentwire_peer::runtime::CallExt;
use agentwire_peer::{Call, CallError, Peer};
use agentwire_transport::MessageSource;
use serde::Serialize;

use crate::capability::Capability;
use crate::input::InputRound;
use crate::quota::Holder;
use crate::request::client_meta::ClientMeta;
use crate::request::params::Params;
use crate::request::result_meta;
use crate::request::result_meta::PageMeta;
use crate::request::session::Session;
use crate::scope::RequestScope;
use crate::settings::Settings;

/// The client that a request came from.
#[derive(Clone)]
pub(crate) enum ClientContext {
    /// The client of a session.
    Session(Arc<Session>),
    /// The client of a modern request.
    Request(Arc<ClientMeta>),
}

impl ClientContext {
    pub(crate) fn revision(&self) -> Revision {
        match self {
            Self::Session(session) => session.negotiated().revision,
            Self::Request(meta) => meta.revision(),
        }
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        match self {
            Self::Session(session) => Some(&session.negotiated().client_info),
            Self::Request(meta) => meta.info(),
        }
    }

    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        match self {
            Self::Session(session) => session.negotiated().client_capabilities.get(),
            Self::Request(meta) => meta.capabilities(),
        }
    }

    /// The client that the limits for each client count.
    pub(crate) fn holder(&self, settings: &Settings, source: Option<&dyn MessageSource>) -> Holder {
        settings.sender(source).unwrap_or_else(|| match self {
            Self::Session(session) => Holder::Session(session.number()),
            Self::Request(_) => Holder::Unknown,
        })
    }

    /// The token for progress notifications about a request with those params. A malformed one counts as missing.
    pub(crate) fn progress_token(&self, params: &Params<'_>) -> Option<ProgressToken> {
        match self {
            Self::Session(_) => read(params.in_meta(Member::MetaProgressToken)?).ok(),
            Self::Request(meta) => meta.progress_token().cloned(),
        }
    }

    /// Whether the client gets a log message at that level, about a request that is over or not.
    pub(crate) fn wants_log(&self, settings: &Settings, level: &LoggingLevel, is_over: bool) -> bool {
        match self {
            Self::Session(session) => session.is_offered(Capability::Logging) && session.wants_log(level),
            Self::Request(meta) => settings.logs() && !is_over && meta.wants_log(level),
        }
    }

    /// Checks that the `Mcp-Param-*` headers of a call repeat its marked arguments. Headers route modern requests, and what
    /// was routed by must be what is worked on. A transport without headers repeats nothing.
    pub(crate) fn check_param_headers(
        &self,
        marks: &[HeaderMark],
        arguments: &str,
        source: Option<&dyn MessageSource>,
    ) -> Result<(), ErrorObject> {
        let (Self::Request(_), Some(source), false) = (self, source, marks.is_empty()) else {
            return Ok(());
        };
        // A transport that repeats arguments in headers always sets this header. Without it there is nothing to compare.
        if source.header(header::PROTOCOL_VERSION).is_none() {
            return Ok(());
        }
        let mut checks =
            marks.iter().map(|mark| mark.check(arguments, source.header(mark.header()).as_deref()));
        checks.try_for_each(|check| {
            check.map_err(|mismatch| ErrorObject::new(code::HEADER_MISMATCH, mismatch.to_string()))
        })
    }

    /// Sends a request to the client. Only that of a session takes requests.
    pub(crate) fn call<M: RequestMethod + Downgrade>(
        &self,
        peer: Option<&Peer>,
        request: M,
    ) -> Call<M::Response> {
        match (self, peer) {
            (Self::Session(session), Some(peer)) => session.call(peer, request),
            _ => {
                let why = "the request is modern (revision 2026-07-28), so its client takes no requests; \
                           ask for the input by the result";
                Call::failed(CallError::not_allowed(M::NAME, why))
            }
        }
    }

    /// Begins a round of a modern request. `None` if the client can be asked nothing and returns no answers.
    pub(crate) fn begin_round(
        &self,
        settings: &Arc<Settings>,
        request: &Request,
        params: &Params<'_>,
        source: Option<&dyn MessageSource>,
    ) -> Result<Option<Box<InputRound>>, ErrorObject> {
        let Self::Request(meta) = self else { return Ok(None) };
        let (responses, state) = (params.get(Member::InputResponses), params.get(Member::RequestState));
        if !meta.can_be_asked() && state.is_none() {
            return Ok(None);
        }
        let empty = RawJson::EMPTY_OBJECT;
        let whole = request.params.as_ref().unwrap_or(&empty);
        Ok(InputRound::begin(settings, &request.method, whole, responses, state, source)?.map(Box::new))
    }

    /// Encodes a result in the client's revision, with the members that each result has in it.
    pub(crate) fn encode<T: Serialize + Downgrade + HasMeta>(
        &self,
        settings: &Settings,
        scope: &RequestScope,
        mut value: T,
    ) -> Result<RawJson, ErrorObject> {
        value.downgrade(self.revision());
        value.fits(self.revision()).map_err(ErrorObject::internal_error)?;
        match self {
            Self::Session(_) => scope.encode(&value),
            Self::Request(_) => result_meta::encode(settings, scope, value),
        }
    }

    /// The members of a page of a list beside its items.
    pub(crate) fn page_meta<'a>(&self, settings: &'a Settings) -> Option<PageMeta<'a>> {
        match self {
            Self::Session(_) => None,
            Self::Request(_) => Some(PageMeta::new(settings)),
        }
    }
}
