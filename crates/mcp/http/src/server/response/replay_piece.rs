//! A piece of a stream that its client has missed, and the continuation.

use std::fmt;

use bytes::Bytes;
use futures::future::BoxFuture;

use crate::server::response_stream::StreamReader;

/// A piece of a stream that its client has missed.
#[derive(Debug)]
pub(crate) struct ReplayPiece {
    pub(crate) text: Bytes,
    pub(crate) then: AfterReplay,
}

/// The continuation after a piece.
pub(crate) enum AfterReplay {
    /// Another, once the client has taken this one.
    More(BoxFuture<'static, ReplayPiece>),
    /// Live events.
    Live(StreamReader),
    /// Nothing.
    End,
}

impl fmt::Debug for AfterReplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::More(_) => "More",
            Self::Live(_) => "Live",
            Self::End => "End",
        })
    }
}
