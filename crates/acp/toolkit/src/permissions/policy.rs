//! The policy for tool calls without an earlier decision.

use agentwire_acp_schema::v1::{PermissionOptionKind, RequestPermissionRequest, RequestPermissionResponse};

/// How tool calls without an earlier decision are decided.
///
/// ```
/// use agentwire_acp_schema::v1::{PermissionOption, PermissionOptionKind, RequestPermissionRequest, ToolCallUpdate};
/// use agentwire_acp_toolkit::PermissionPolicy;
///
/// let option = |id: &str, kind| PermissionOption::new(id, id, kind);
/// let options = [
///     option("always", PermissionOptionKind::AllowAlways),
///     option("once", PermissionOptionKind::AllowOnce),
///     option("no", PermissionOptionKind::RejectOnce),
/// ];
/// let request = RequestPermissionRequest::new("session-1", ToolCallUpdate::new("call-1"), options);
/// assert_eq!(PermissionPolicy::Ask.decide(&request), None);
/// let answer = PermissionPolicy::AllowAll.decide(&request);
/// assert_eq!(answer, Some(agentwire_acp_schema::v1::RequestPermissionResponse::selected("once")));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPolicy {
    /// Asks the user.
    #[default]
    Ask,
    /// Allows the call. Prefers `allow_once`, because `allow_always` can change the agent's later behaviour. The agent can
    /// then do anything that its model decides.
    AllowAll,
    /// Rejects the call. Prefers `reject_once`. Without an option that rejects, the outcome is cancelled.
    RejectAll,
}

impl PermissionPolicy {
    /// Returns the answer of this policy, or `None` if the user is asked.
    ///
    /// Options of an unknown kind are never selected. If no option fits, the outcome is cancelled.
    pub fn decide(self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        match self {
            Self::Ask => None,
            Self::AllowAll => {
                Some(first_of(request, [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]))
            }
            Self::RejectAll => Some(first_of(
                request,
                [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
            )),
        }
    }
}

/// Selects the first option of the first kind that the request offers. Without one the outcome is cancelled.
fn first_of(
    request: &RequestPermissionRequest,
    kinds: [PermissionOptionKind; 2],
) -> RequestPermissionResponse {
    let options = &request.options;
    let option = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    option.map_or_else(RequestPermissionResponse::cancelled, |option| {
        RequestPermissionResponse::selected(&option.option_id)
    })
}

/// Selects an option that rejects the call. Without one the outcome is cancelled.
pub(super) fn reject(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    first_of(request, [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways])
}
