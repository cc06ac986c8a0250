//! The request that a turn answers, in either version of the protocol.

use agentwire_acp_agent::Context;
use agentwire_peer::Cancelled;
#[cfg(feature = "v2")]
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either};

use crate::client::RemoteClient;
use crate::session::Session;
use crate::workspace::Workspace;

/// The request that a turn answers.
#[derive(Debug)]
pub(crate) enum PromptContext {
    V1(Context),
    #[cfg(feature = "v2")]
    V2(agentwire_acp_agent::v2::Turn),
}

impl PromptContext {
    /// Returns the client. In version 2 the questions that are asked through it are withdrawn when the prompt ends.
    pub(super) fn client(&self) -> RemoteClient {
        match self {
            Self::V1(context) => context.client().into(),
            #[cfg(feature = "v2")]
            Self::V2(turn) => turn.client().into(),
        }
    }

    /// Returns the files and terminals that the turn works with.
    pub(super) fn workspace(&self, session: &Session) -> Workspace {
        match self {
            Self::V1(context) => {
                let _ = session;
                Workspace::Client(context.client().clone())
            }
            #[cfg(feature = "v2")]
            Self::V2(_) => Workspace::Local(session.local_workspace()),
        }
    }

    /// Completes when the client cancels the prompt.
    pub(super) fn cancelled(&self) -> Either<Cancelled, BoxFuture<'static, ()>> {
        match self {
            Self::V1(context) => Either::Left(context.cancelled()),
            #[cfg(feature = "v2")]
            Self::V2(turn) => Either::Right(turn.cancelled().boxed()),
        }
    }

    /// Returns whether the client has cancelled the prompt.
    pub(super) fn is_cancelled(&self) -> bool {
        match self {
            Self::V1(context) => context.is_cancelled(),
            #[cfg(feature = "v2")]
            Self::V2(turn) => turn.is_cancelled(),
        }
    }
}
