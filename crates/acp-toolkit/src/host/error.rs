use std::error::Error;
use std::sync::Arc;

use agentwire_acp_client::CallError;
use agentwire_acp_schema::v1::SessionId;
use agentwire_transport::Exited;

/// Why a session or a turn of a [`Host`](crate::Host) failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A call failed. [`CallError::Closed`] says that the agent ended while the call was unanswered. It is not sent again.
    #[error(transparent)]
    Call(#[from] CallError),
    /// There is no connection, and there will be none: the agent ended and is not started again.
    #[error("no connection to the agent: {0}")]
    Ended(#[source] Arc<dyn Error + Send + Sync>),
    /// The agent was started again and did not open the session again.
    #[error("the session {session:?} was lost when the agent ended: {why}")]
    #[non_exhaustive]
    SessionLost {
        /// The session.
        session: SessionId,
        /// Why the agent did not open it.
        #[source]
        why: Arc<CallError>,
    },
    /// The working directory cannot be made absolute.
    #[error("the working directory: {0}")]
    Directory(#[source] std::io::Error),
    /// The text of an answer is over the limit, which is given in bytes.
    #[error("the text of the answer is longer than {0} bytes, which is the limit")]
    TextTooLong(usize),
}

impl HostError {
    /// Returns how the agent's process has ended, if that is why this failed: its status, and the last lines of its stderr.
    pub fn exited(&self) -> Option<&Exited> {
        Exited::of(self)
    }
}
