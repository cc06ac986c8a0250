//! `HubError`: why a call, a subscription or a change of the servers failed.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use agentwire_mcp_client::CallError;
use agentwire_mcp_schema::code::{MISSING_REQUIRED_CLIENT_CAPABILITY, MissingCapabilities};

use crate::status::ServerState;
use agentwire_jsonrpc::{Printable, did_you_mean};

/// Why a call, a subscription or a change of the servers failed.
///
/// Texts of servers and unknown names are [`Printable`](agentwire_jsonrpc::Printable) in its message.
#[derive(Debug)]
#[non_exhaustive]
pub enum HubError {
    /// No server has a tool of that name.
    #[non_exhaustive]
    NoSuchTool {
        /// The name.
        name: String,
        /// The tool that was probably meant, if a name is near.
        meant: Option<String>,
    },
    /// No server has that name.
    #[non_exhaustive]
    NoSuchServer {
        /// The name.
        name: String,
        /// The server that was probably meant, if a name is near.
        meant: Option<String>,
    },
    /// The tool is not among those of a handle that [`Hub::only`](crate::Hub::only) gave.
    #[non_exhaustive]
    NotSelected {
        /// The name.
        name: String,
    },
    /// The hub has had as many servers as it may have.
    #[non_exhaustive]
    TooManyServers {
        /// The limit.
        limit: usize,
    },
    /// The hub is closed.
    Closed,
    /// The server has dropped or changed the tool since it was looked up. It was not called.
    #[non_exhaustive]
    ToolChanged {
        /// The server.
        server: String,
        /// The tool's name there.
        tool: String,
    },
    /// The server cannot be called, or no longer can. The [reason](ServerState::reason) of its state is the
    /// [source](Error::source).
    #[non_exhaustive]
    Unavailable {
        /// The server.
        server: String,
        /// Its state.
        state: ServerState,
    },
    /// The server asks a question that no function of [`HubConfig`](crate::HubConfig) answers, such as a form for the user.
    #[non_exhaustive]
    Unanswered {
        /// The server.
        server: String,
        /// The wanted capabilities, in words.
        wanted: Vec<&'static str>,
    },
    /// The call failed.
    #[non_exhaustive]
    Call {
        /// The server.
        server: String,
        /// Why.
        source: CallError,
    },
}

impl Error for HubError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unavailable { state, .. } => state.reason().map(|reason| &**reason as _),
            Self::Call { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for HubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Printable::display;
        match self {
            Self::NoSuchTool { name: tool, meant } => {
                write!(f, "there is no tool `{}`{}", name(tool), did_you_mean(tool, meant.as_deref()))
            }
            Self::NoSuchServer { name: server, meant } => {
                write!(f, "there is no server `{}`{}", name(server), did_you_mean(server, meant.as_deref()))
            }
            Self::NotSelected { name: tool } => {
                write!(f, "the tool `{}` is not among those that may be called here", name(tool))
            }
            Self::TooManyServers { limit } => {
                write!(f, "the hub has had {limit} servers, removed ones included, which is the limit")
            }
            Self::Closed => f.write_str("the hub is closed"),
            Self::ToolChanged { server, tool } => {
                write!(f, "the server `{server}` has changed or dropped its tool `{}` ", name(tool))?;
                f.write_str("since it was looked up, so it was not called")
            }
            Self::Unavailable { server, state } => {
                write!(f, "the server `{server}` cannot be called: {}", state.word())
            }
            Self::Unanswered { server, wanted } => {
                let wanted = wanted.join(", ");
                write!(f, "the server `{server}` asks for what cannot be answered here: {wanted}")
            }
            Self::Call { server, .. } => write!(f, "the call to the server `{server}` failed"),
        }
    }
}

/// The capabilities that a question can need, and what it asks for.
const WANTED: [(&str, &str); 4] = [
    ("elicitation.form", "a form for the user to fill in"),
    ("elicitation.url", "a page for the user to visit"),
    ("sampling", "an answer of a language model"),
    ("roots", "the folders that the host works in"),
];

impl HubError {
    /// The error of a call that failed.
    pub(crate) fn of_call(server: String, source: CallError) -> Self {
        let refusal = source.refusal().filter(|error| error.code == MISSING_REQUIRED_CLIENT_CAPABILITY);
        let missing = refusal.and_then(|error| error.data.as_ref()?.decode::<MissingCapabilities>().ok());
        let wanted = WANTED.into_iter().filter(|(capability, _)| {
            missing.as_ref().is_some_and(|missing| missing.required_capabilities.has(capability))
        });
        let wanted: Vec<_> = wanted.map(|(_, words)| words).collect();
        match wanted.is_empty() {
            true => Self::Call { server, source },
            false => Self::Unanswered { server, wanted },
        }
    }

    /// Why the server is unavailable, for [`Unavailable`](Self::Unavailable): the error with which it died or its connection failed.
    pub fn unavailable_reason(&self) -> Option<&Arc<dyn Error + Send + Sync>> {
        match self {
            Self::Unavailable { state, .. } => state.reason(),
            _ => None,
        }
    }
}
