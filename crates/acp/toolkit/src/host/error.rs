//! The error of a host's sessions and turns.

use std::error::Error;
use std::sync::Arc;

use agentwire_acp_client::CallError;
use agentwire_acp_schema::v1::SessionId;
use agentwire_transport::Exited;

/// The error of a session or a turn of a [`Host`](crate::Host).
///
/// The text does not contain the cause, which is the [source](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A call failed. [`CallError::Closed`]: the agent ended before it answered. The call is not sent again.
    #[error("a call of the agent failed")]
    Call(#[from] CallError),
    /// The agent ended and is not started again.
    #[error("no connection to the agent")]
    Ended(#[source] Arc<dyn Error + Send + Sync>),
    /// The agent was started again and did not open the session again.
    #[error("the session {session:?} was lost when the agent ended")]
    #[non_exhaustive]
    SessionLost {
        /// The session.
        session: SessionId,
        /// Why the agent did not open it.
        #[source]
        why: Arc<CallError>,
    },
    /// The working directory cannot be made absolute.
    #[error("the working directory cannot be made absolute")]
    Directory(#[source] std::io::Error),
    /// The text of an answer exceeds this limit, in bytes.
    #[error("the text of the answer is longer than {0} bytes, which is the limit")]
    TextTooLong(usize),
}

impl HostError {
    /// Returns the exit status of the agent's process and the last lines of its stderr, if the end of the process caused this
    /// error.
    pub fn exited(&self) -> Option<&Exited> {
        Exited::of(self)
    }
}

#[cfg(test)]
mod tests {
    use agentwire_acp_client::{BoxError, Error as ErrorObject};
    use agentwire_jsonrpc::WithCauses;

    use super::*;

    #[test]
    fn no_error_lets_through_what_steers_a_terminal() {
        const TEXT: &str = "\u{1b}[2J\u{202e}gone";
        const SHOWN: &str = "^[[2J<U+202E>gone";
        let refused = || CallError::refused("m", ErrorObject::new(1, TEXT));
        let exited = Exited::new("my-agent", None, TEXT);
        let table = [
            (HostError::from(refused()), format!("a call of the agent failed: m: refused: {SHOWN} (1)")),
            (HostError::Ended(Arc::from(Box::from(TEXT))), format!("no connection to the agent: {SHOWN}")),
            (
                HostError::Ended(Arc::new(exited)),
                format!("no connection to the agent: `my-agent` ended; its last words were: {SHOWN}"),
            ),
            (
                HostError::SessionLost { session: SessionId::new(TEXT), why: Arc::new(refused()) },
                format!(
                    "the session {:?} was lost when the agent ended: m: refused: {SHOWN} (1)",
                    SessionId::new(TEXT)
                ),
            ),
            (
                HostError::Directory(std::io::Error::other(TEXT)),
                format!("the working directory cannot be made absolute: {SHOWN}"),
            ),
        ];
        for (error, expected) in table {
            assert_eq!(WithCauses::new(&error).to_string(), expected);
            assert!(!format!("{error}{error:?}").contains(['\u{1b}', '\u{202e}']), "{error:?}");
        }
    }

    #[test]
    fn call_error_is_found_as_a_source() {
        let error = BoxError::from(HostError::from(CallError::refused("m", ErrorObject::new(1, "no"))));
        assert_eq!(error.find::<CallError>().unwrap().refusal().unwrap().code, 1);
        assert_eq!(error.to_string(), "a call of the agent failed: m: refused: no (1)");
    }
}
