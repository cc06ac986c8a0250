//! A failure of an agent or a server, with the sentence that names it.

use std::error::Error;
use std::fmt;

use agentwire_mcp_hub::{Attempt, ConnectError};
use agentwire_peer::{BoxError, Closed};
use agentwire_transport_http::client::HttpError;

use super::chain::TEXT_LIMIT;
use super::errors::{Exit, to_anyhow};
use super::phrase::phrase;
use super::side::OtherSide;
use crate::output::text::beginning;

/// A failure of an agent or a server, or of the connection to it. Its text is complete: its causes add nothing.
#[derive(Debug)]
pub(crate) struct RemoteError {
    sentence: String,
    is_connected: bool,
    error: BoxError,
}

impl RemoteError {
    /// Names the other side in an error. Other errors, such as a closed stdout, stay unchanged.
    pub(crate) fn name(side: &OtherSide, is_connected: bool, error: BoxError) -> anyhow::Error {
        match phrase(side, is_connected, error.as_error()) {
            Some(sentence) => Self { sentence, is_connected, error }.into(),
            None => to_anyhow(error),
        }
    }

    /// Its exit code, if that depends on whether the other side has answered before.
    pub(super) fn exit(&self) -> Option<Exit> {
        if self.is_connected {
            let is_unsent = matches!(self.error.find(), Some(HttpError::Unsent(_)));
            return is_unsent.then_some(Exit::Failed);
        }
        let is_closed = self.error.exited().is_some() || self.error.find::<Closed>().is_some();
        is_closed.then_some(Exit::Unreachable)
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl Error for RemoteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.error.as_error())
    }
}

/// The attempts to connect to a server, with the failure of each. Empty after a single one.
pub(crate) fn attempts(error: &anyhow::Error) -> Vec<String> {
    let connect = error.chain().find_map(|cause| cause.downcast_ref());
    let Some(ConnectError::Exhausted { attempts, .. }) = connect else { return Vec::new() };
    let line = |attempt: Attempt, error: &BoxError| {
        let name = match attempt {
            Attempt::Auto => "server/discover, then initialize",
            Attempt::Modern => "server/discover",
            Attempt::Legacy => "initialize",
            Attempt::Sse => "HTTP+SSE",
            _ => "another way",
        };
        format!("tried {name}: {}", beginning(error, TEXT_LIMIT))
    };
    attempts.iter().map(|failed| line(failed.attempt, &failed.error)).collect()
}
