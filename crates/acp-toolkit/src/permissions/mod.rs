mod choices;
mod prompt;

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentwire_acp_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SessionId,
};
use agentwire_jsonrpc::ErrorObject as Error;

pub use choices::Choices;
pub use prompt::PermissionPrompt;

/// Who decides about the tool calls that nobody has decided about before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPolicy {
    /// The user.
    #[default]
    Ask,
    /// Nobody: the first option that allows the call is selected. An agent that is run like this can do
    /// whatever its model comes to think of.
    AllowAll,
    /// Nobody: the first option that rejects the call is selected; the outcome is cancelled where there is none.
    RejectAll,
}

impl PermissionPolicy {
    /// What it answers by itself. None when it is to be asked.
    ///
    /// Options of a kind that is not known are never selected. Where nothing fits the outcome is cancelled.
    pub fn decide(self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        match self {
            Self::Ask => None,
            Self::AllowAll => Some(request.select_first()),
            Self::RejectAll => Some(reject(request)),
        }
    }
}

/// What `allow_always` and `reject_always` are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remember {
    /// The same call: the same tool, kind, title and input. An agent that asks although it was told "always"
    /// means something that it does not take to be covered, so this is the default.
    #[default]
    Call,
    /// The same tool, whatever it is called with: by its name, or by the title where it has no name.
    Tool,
    /// Nothing: the agent is left to remember it.
    Nothing,
}

/// Permission requests, answered by what was decided before, by a policy, or by somebody who is asked.
///
/// What the user decided with an option of kind `allow_always` or `reject_always` holds within its session, until
/// the session is [forgotten](Self::forget) or this is dropped. Nothing is stored.
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission>.
#[derive(Debug, Default)]
pub struct Permissions {
    policy: PermissionPolicy,
    remember: Remember,
    /// What was decided about a subject, which is here only as its hash: the agent decides how large it is.
    decided: Mutex<HashMap<SessionId, HashMap<u64, PermissionOptionKind>>>,
    hasher: RandomState,
}

impl Permissions {
    /// Leaves undecided calls to `policy`.
    pub fn new(policy: PermissionPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Sets what "always" is about (default [`Remember::Call`]).
    #[must_use]
    pub fn remember(mut self, remember: Remember) -> Self {
        self.remember = remember;
        self
    }

    /// `session/request_permission`: the answer, for which `ask` is called only when it has to be.
    ///
    /// A request without options is answered as cancelled, since there is nothing to select.
    ///
    /// # Errors
    ///
    /// Those of `ask`.
    pub async fn answer(
        &self,
        request: &RequestPermissionRequest,
        ask: impl AsyncFnOnce(&RequestPermissionRequest) -> Result<RequestPermissionResponse, Error>,
    ) -> Result<RequestPermissionResponse, Error> {
        if let Some(response) = self.decide(request) {
            return Ok(response);
        }
        let response = ask(request).await?;
        self.record(request, &response);
        Ok(response)
    }

    /// The answer that needs nobody, from memory or by policy.
    pub fn decide(&self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        if request.options.is_empty() {
            return Some(RequestPermissionResponse::cancelled());
        }
        self.recall(request).or_else(|| self.policy.decide(request))
    }

    /// Remembers what the user answered, if that was for always.
    pub fn record(&self, request: &RequestPermissionRequest, response: &RequestPermissionResponse) {
        let RequestPermissionOutcome::Selected(selected) = &response.outcome else { return };
        let option = request.options.iter().find(|option| option.option_id == selected.option_id);
        let always = option.map(|option| &option.kind).filter(|kind| {
            matches!(kind, PermissionOptionKind::AllowAlways | PermissionOptionKind::RejectAlways)
        });
        if let (Some(kind), Some(subject)) = (always, self.subject(request)) {
            let mut decided = self.decided();
            decided.entry(request.session_id.clone()).or_default().insert(subject, kind.clone());
        }
    }

    /// Forgets what was decided in a session.
    pub fn forget(&self, session: &SessionId) {
        self.decided().remove(session);
    }

    fn recall(&self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        let subject = self.subject(request)?;
        let kind = self.decided().get(&request.session_id)?.get(&subject)?.clone();
        let once = match kind {
            PermissionOptionKind::AllowAlways => PermissionOptionKind::AllowOnce,
            _ => PermissionOptionKind::RejectOnce,
        };
        let option = option(request, &kind).or_else(|| option(request, &once))?;
        Some(RequestPermissionResponse::selected(&option.option_id))
    }

    /// What a request is about, as far as it can be compared. None where it says too little.
    fn subject(&self, request: &RequestPermissionRequest) -> Option<u64> {
        let call = &request.tool_call;
        match self.remember {
            Remember::Nothing => None,
            Remember::Tool => {
                let tool = call.name.as_ref().map(|name| ("name", name));
                let tool = tool.or_else(|| call.title.as_ref().map(|title| ("title", title)))?;
                Some(self.hasher.hash_one(tool))
            }
            Remember::Call => {
                let input = call.raw_input.as_ref().map(ToString::to_string);
                // A name alone says nothing about what the tool is to do.
                if call.title.is_none() && input.is_none() {
                    return None;
                }
                Some(self.hasher.hash_one((&call.name, &call.kind, &call.title, input)))
            }
        }
    }

    fn decided(&self) -> MutexGuard<'_, HashMap<SessionId, HashMap<u64, PermissionOptionKind>>> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first option of a kind.
fn option<'a>(
    request: &'a RequestPermissionRequest,
    kind: &PermissionOptionKind,
) -> Option<&'a PermissionOption> {
    request.options.iter().find(|option| option.kind == *kind)
}

/// The first option that rejects the call; cancelled where there is none.
fn reject(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    let rejects = |option: &&PermissionOption| {
        matches!(option.kind, PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways)
    };
    let option = request.options.iter().find(rejects);
    option.map_or_else(RequestPermissionResponse::cancelled, |option| {
        RequestPermissionResponse::selected(&option.option_id)
    })
}
