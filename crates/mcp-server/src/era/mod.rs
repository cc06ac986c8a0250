//! The two eras of the protocol: who asks, and what may be said to it.
//!
//! Up to 2025-11-25 a connection is a session, and what the handshake said holds for all of it. Later, each request
//! says for itself who asks. Which of the two a request is of stands in its `_meta`, so one connection may carry
//! both. Only the two files here know the difference; everybody else asks a [`Caller`].

mod capabilities;
mod mirrored;
pub(crate) mod session;
pub(crate) mod stateless;

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestMethod};
use agentwire_mcp_schema::{
    ClientCapabilities, Downgrade, HasMeta, HeaderMark, Implementation, LoggingLevel, ProgressToken, Revision,
};
use agentwire_peer::{Call, Peer};
use agentwire_transport::MessageSource;
use serde::Serialize;

use crate::ask::{AskError, Kind as AskErrorKind, Pass, Question};
use crate::context::Running;
use crate::kind::Kind;
use crate::params::Params;
use crate::quota::Holder;
use crate::scope::RequestScope;
use crate::{Context, Server};

pub(crate) use mirrored::PROTOCOL_VERSION;
pub(crate) use session::Session;
pub(crate) use stateless::{Asker, Remarks};

/// Who asks.
#[derive(Clone)]
pub(crate) enum Caller {
    /// Whoever began the session.
    Session(Arc<Session>),
    /// Whoever this one request says.
    Request(Arc<Asker>),
}

/// Who sent a request, as far as the server or the transport knows.
fn sender(server: &Server, source: Option<&dyn MessageSource>) -> Option<Holder> {
    let principal = server.asking_settings().principal_of(source).map(Holder::Principal);
    principal.or_else(|| Some(Holder::Sender(source?.sender()?.into_owned())))
}

impl Caller {
    pub(crate) fn revision(&self) -> Revision {
        match self {
            Self::Session(session) => session.negotiated().revision,
            Self::Request(asker) => asker.revision(),
        }
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        match self {
            Self::Session(session) => Some(&session.negotiated().client_info),
            Self::Request(asker) => asker.info(),
        }
    }

    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        match self {
            Self::Session(session) => session.negotiated().client_capabilities.get(),
            Self::Request(asker) => asker.capabilities(),
        }
    }

    /// Whom limits for each client count.
    pub(crate) fn holder(&self, server: &Server, source: Option<&dyn MessageSource>) -> Holder {
        sender(server, source).unwrap_or_else(|| match self {
            Self::Session(session) => Holder::Session(session.number()),
            Self::Request(_) => Holder::Unknown,
        })
    }

    /// Whether things of that kind are there for this caller.
    pub(crate) fn is_offered(&self, server: &Server, kind: Kind) -> bool {
        match self {
            Self::Session(session) => session.is_offered(kind),
            Self::Request(_) => server.offers(kind),
        }
    }

    /// The token under which it wants to hear of the progress of a request with those params.
    pub(crate) fn progress_token(&self, params: &Params<'_>) -> Option<ProgressToken> {
        match self {
            Self::Session(_) => session::progress_token(params),
            Self::Request(asker) => asker.progress_token().cloned(),
        }
    }

    /// Whether it wants a line of log at that level from a server that logs, about a request that is `over` or not.
    pub(crate) fn wants_log(&self, level: &LoggingLevel, over: bool) -> bool {
        match self {
            Self::Session(session) => session.wants_log(level),
            Self::Request(asker) => !over && asker.wants_log(level),
        }
    }

    /// Makes sure that a call of a tool says the same in the headers that it came with.
    pub(crate) fn check_mirrored(
        &self,
        marks: &[HeaderMark],
        arguments: &str,
        source: Option<&dyn MessageSource>,
    ) -> Result<(), ErrorObject> {
        match self {
            Self::Session(_) => Ok(()),
            Self::Request(_) => mirrored::check(marks, arguments, source),
        }
    }

    /// Asks something in return.
    pub(crate) fn call<M: RequestMethod + Downgrade>(
        &self,
        peer: Option<&Peer>,
        request: M,
    ) -> Call<M::Response> {
        match (self, peer) {
            (Self::Session(session), Some(peer)) => session.call(peer, request),
            _ => stateless::refuse_call::<M>(),
        }
    }

    /// Begins one of the rounds in which its request is answered, if it is answered in rounds.
    pub(crate) fn begin_pass(
        &self,
        server: &Server,
        request: &Request,
        params: &Params<'_>,
        source: Option<&dyn MessageSource>,
    ) -> Result<Option<Box<Pass>>, ErrorObject> {
        match self {
            Self::Session(_) => Ok(None),
            Self::Request(asker) => stateless::begin_pass(server, asker, request, params, source),
        }
    }

    /// Asks what a function wants to know.
    pub(crate) async fn ask<Q: Question>(
        &self,
        context: &Context,
        key: &str,
        question: Q,
    ) -> Result<Q::Response, AskError> {
        match self {
            Self::Session(session) => {
                if let Some(board) = context.task() {
                    return crate::tasks::ask(board, key, question).await;
                }
                session.ask(context, question).await
            }
            Self::Request(_) => stateless::ask(context, key, question).await,
        }
    }

    /// The answer under that key is not what was asked for.
    pub(crate) fn wrong_answer(&self, key: &str, why: String, of_task: bool) -> AskError {
        let in_params = matches!(self, Self::Request(_)) && !of_task;
        AskError(AskErrorKind::Wrong { key: key.to_owned(), why, in_params })
    }

    /// Writes a result as this caller knows it, and says what every result says to it.
    pub(crate) fn encode<T: Serialize + Downgrade + HasMeta>(
        &self,
        server: &Server,
        scope: &RequestScope,
        mut value: T,
    ) -> Result<RawJson, ErrorObject> {
        value.downgrade(self.revision());
        value.fits(self.revision()).map_err(ErrorObject::internal_error)?;
        match self {
            Self::Session(_) => scope.encode(&value),
            Self::Request(_) => stateless::encode(server, scope, value),
        }
    }

    /// What a page of a list says beside what it lists.
    pub(crate) fn remarks<'a>(&self, server: &'a Server) -> Option<Remarks<'a>> {
        match self {
            Self::Session(_) => None,
            Self::Request(_) => Some(Remarks::of_list(server)),
        }
    }
}

/// What is done about a request.
pub(crate) enum Reply {
    /// It is answered.
    Done(Result<RawJson, ErrorObject>),
    /// Somebody works on it.
    Running(Context, Running),
    /// Somebody works on it who sees to its end.
    Alone(Running),
}

impl Reply {
    pub(crate) fn done(answer: RawJson) -> Self {
        Self::Done(Ok(answer))
    }
}
