//! Repeats a request once if a modern server's refusal names the remedy. The server has not worked on the first one.
//!
//! A refused revision is replaced by one that the server names and the client speaks. If the HTTP headers of a tool's
//! call do not match its schema, the tools are listed again, because the transport takes the headers from the list.
//!
//! A session that the server no longer knows (404 over HTTP) is not recovered here: the transport ends with it, and only
//! the owner of the transport, such as `mcp-hub`, can connect again. It sends the [draft](crate::Call::draft) of a
//! call again.

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_schema::{Revision, code};
use agentwire_mcp_wire::meta;
use agentwire_peer::CallError;

use super::{lookup, send};
use crate::connection::Connection;
use crate::raw::{RawAnswer, RawCall, with_meta};
use crate::versions::{best, named};

/// Makes a request. Repeats it with the remedy applied, at most once for each call.
pub(crate) async fn call(connection: &Connection, call: &mut RawCall) -> Result<RawAnswer, CallError> {
    match send::call(connection, call).await {
        Err(error) if !call.is_recovered && mend(connection, call, &error).await => {
            call.is_recovered = true;
            send::call(connection, call).await
        }
        outcome => outcome,
    }
}

/// Applies the remedy for a refused request. Returns whether to send the request again.
async fn mend(connection: &Connection, call: &mut RawCall, error: &CallError) -> bool {
    match Remedy::of(error, call, connection) {
        Some(Remedy::Revision(revision)) => {
            let Ok(revision) = RawJson::encode(revision.as_str()) else { return false };
            call.params = with_meta(&call.params, meta::PROTOCOL_VERSION, revision);
            true
        }
        Some(Remedy::List(tool)) => lookup::find(connection, &tool).await,
        None => false,
    }
}

/// The change that makes a refused request worth another try.
enum Remedy {
    /// Another revision.
    Revision(Revision),
    /// Listing this tool again.
    List(String),
}

impl Remedy {
    fn of(error: &CallError, call: &RawCall, connection: &Connection) -> Option<Self> {
        let error = error.refusal()?;
        match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => {
                let versions = named(error, connection.server.revision)?;
                let speaks = |revision: Revision| {
                    revision.is_modern() && connection.server.revisions.contains(&revision)
                };
                best(&versions.supported, speaks).map(Self::Revision)
            }
            code::HEADER_MISMATCH => call.tool().map(|tool| Self::List(tool.into_owned())),
            _ => None,
        }
    }
}
