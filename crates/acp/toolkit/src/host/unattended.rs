//! The user interface of a program without a user.

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{RequestPermissionRequest, RequestPermissionResponse, SessionId};

use crate::{Applied, Conversation, PermissionPolicy, UserInterface};

/// The user interface of a program without a user. It rejects each permission request that neither a rule nor a policy
/// decides, declines forms and URLs, and shows nothing.
///
/// ```
/// use agentwire_acp_toolkit::{Toolkit, Unattended};
///
/// let toolkit = Toolkit::new(Unattended).without_forms().without_urls();
/// # let _ = toolkit;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "a program names the value")]
pub struct Unattended;

impl UserInterface for Unattended {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        let rejected = PermissionPolicy::RejectAll.decide(request);
        Ok(rejected.unwrap_or_else(RequestPermissionResponse::cancelled))
    }

    fn show(&self, _: &SessionId, _: &Conversation, _: &Applied) {}
}
