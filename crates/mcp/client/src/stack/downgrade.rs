//! Refuses requests that the server does not offer, and downgrades the others to the agreed revision.

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::{Downgrade, MethodInfo};
use agentwire_peer::CallError;

use crate::connection::HandshakeResult;

/// Returns the request in the form of the server's revision.
///
/// # Errors
///
/// [`CallError::NotAllowed`] where the server does not offer the method, or its revision has no form for the request.
pub(crate) fn downgrade<M: RequestMethod + Downgrade>(
    server: &HandshakeResult,
    mut request: M,
) -> Result<M, CallError> {
    let revision = server.revision;
    let Some(method) = MethodInfo::find_in(M::NAME, revision) else {
        return Err(CallError::not_allowed(M::NAME, format!("revision {revision} does not have it")));
    };
    if !method.is_allowed(revision, &server.client_capabilities, &server.capabilities) {
        return Err(CallError::not_allowed(M::NAME, "the server does not offer it"));
    }
    request.downgrade(revision);
    request.fits(revision).map_err(|why| CallError::not_allowed(M::NAME, why.to_string()))?;
    Ok(request)
}
