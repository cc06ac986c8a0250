//! Answers permission requests by rules, earlier decisions, a policy or the user.

mod cancel_guard;
mod choices;
mod command_line;
mod command_pattern;
mod command_words;
mod policy;
mod program_options;
mod prompt;
mod rule;

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt::{self, Write as _};
use std::hash::{BuildHasher, Hash as _, Hasher};

use agentwire_acp_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SessionId, ToolCallContent,
};
use agentwire_jsonrpc::{ErrorObject as Error, RawJson};
use agentwire_sync::{Mutex, MutexGuard};

pub use cancel_guard::CancelGuard;
pub use choices::{Choices, names_path};
pub use policy::PermissionPolicy;
pub use prompt::PermissionPrompt;
pub use rule::PermissionRule;

use agentwire_wire_derive::Build;
use cancel_guard::SessionCancels;

/// The default limit of remembered decisions.
const LIMIT: usize = 10_000;

/// The placeholder for an unknown path of a call. It is not absolute, so no rule allows it.
pub(crate) const UNKNOWN_PATH: &str = "(unknown path)";

/// The scope of an answer `allow_always` or `reject_always`.
///
/// ```
/// use agentwire_acp_toolkit::{DecisionScope, PermissionPolicy, Permissions};
///
/// // "Always allow" holds for every later call of the same tool.
/// let permissions = Permissions::new(PermissionPolicy::Ask).remember(DecisionScope::Tool);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecisionScope {
    /// The same call: the same tool, kind, title, input, locations and content. This is the default: an agent that asks again
    /// after "always" treats the new call as another one.
    #[default]
    Call,
    /// The same tool with any input: by its name, or by the title of a call without a tool name.
    Tool,
    /// Nothing: the agent is left to remember it.
    Nothing,
}

/// Answers permission requests by rules, earlier decisions, a policy, or by asking the user.
///
/// The first of these decides:
///
/// 1. the first matching [rule](Self::rule),
/// 2. an earlier answer with an option of kind `allow_always` or `reject_always`. It holds within its session until the
///    session is [forgotten](Self::forget); nothing is stored,
/// 3. the policy,
/// 4. the user.
///
/// Only permission requests are decided. An agent may act without a request: reading and writing by `fs/*` and starting
/// commands need none. [`Toolkit`](crate::Toolkit) can switch these methods off, and
/// [`Workspaces::deny`](crate::Workspaces::deny) excludes files.
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission>.
///
/// ```
/// use agentwire_acp_schema::v1::{PermissionOption, PermissionOptionKind, RequestPermissionRequest, ToolCallUpdate, ToolKind};
/// use agentwire_acp_toolkit::{PermissionPolicy, PermissionRule, Permissions};
///
/// let permissions = Permissions::new(PermissionPolicy::Ask)
///     .rule(PermissionRule::allow().kind(ToolKind::Read));
///
/// let allow = PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce);
/// let request = |kind| {
///     let call = ToolCallUpdate::new("call-1").title("Something").kind(kind);
///     RequestPermissionRequest::new("session-1", call, [allow.clone()])
/// };
/// assert!(permissions.decide(&request(ToolKind::Read)).is_some());
/// assert!(permissions.decide(&request(ToolKind::Edit)).is_none()); // The user is asked.
/// ```
#[derive(Debug, Build)]
pub struct Permissions {
    policy: PermissionPolicy,
    /// Adds a rule. It applies to calls that no earlier rule covers. A rule with [`PermissionPolicy::Ask`] asks also after a
    /// remembered decision.
    #[build(name = rule, push)]
    rules: Vec<PermissionRule>,
    /// Sets the scope of "always" (default [`DecisionScope::Call`]).
    remember: DecisionScope,
    /// Sets the limit of remembered decisions of all sessions (default 10,000). Over the limit no further decision is
    /// remembered, and the user is asked again.
    limit: usize,
    decisions: Mutex<Decisions>,
    hasher: RandomState,
    cancels: SessionCancels,
}

/// The decisions by subject. A subject is kept only as a hash, because the agent determines its size.
#[derive(Debug, Default)]
struct Decisions {
    sessions: HashMap<SessionId, HashMap<u64, PermissionOptionKind>>,
    count: usize,
}

impl Default for Permissions {
    fn default() -> Self {
        Self::new(PermissionPolicy::default())
    }
}

impl Permissions {
    /// Leaves undecided calls to `policy`.
    pub fn new(policy: PermissionPolicy) -> Self {
        Self {
            policy,
            rules: Vec::new(),
            remember: DecisionScope::default(),
            limit: LIMIT,
            decisions: Mutex::default(),
            hasher: RandomState::new(),
            cancels: SessionCancels::default(),
        }
    }

    /// `session/request_permission`: returns the answer. Calls `ask` only if nothing else decides.
    ///
    /// If the turn is [cancelled](Self::cancel) before the answer, `ask` is dropped and the outcome is cancelled. The outcome
    /// is also cancelled for a request without options, since there is nothing to select.
    ///
    /// # Errors
    ///
    /// Those of `ask`, and "internal error" if it selects an option that was not offered.
    pub async fn answer(
        &self,
        request: &RequestPermissionRequest,
        ask: impl AsyncFnOnce(&RequestPermissionRequest) -> Result<RequestPermissionResponse, Error>,
    ) -> Result<RequestPermissionResponse, Error> {
        let mut hold = self.cancels.hold(&request.session_id);
        let answer = async {
            match self.decide(request) {
                Some(response) => Ok(response),
                None => ask(request).await,
            }
        };
        let response = tokio::select! {
            biased;
            () = hold.cancelled() => return Ok(RequestPermissionResponse::cancelled()),
            response = answer => response?,
        };
        if let RequestPermissionOutcome::Selected(selected) = &response.outcome
            && !request.options.iter().any(|option| option.option_id == selected.option_id)
        {
            let why =
                format!("the option {:?} was selected and is none of those offered", selected.option_id);
            return Err(Error::internal_error(why));
        }
        self.record(request, &response);
        Ok(response)
    }

    /// Answers without asking the user: by a rule, an earlier decision or the policy. `None` if the user must be
    /// asked.
    pub fn decide(&self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        if request.options.is_empty() {
            return Some(RequestPermissionResponse::cancelled());
        }
        if let Some(policy) = self.rules.iter().find_map(|rule| rule.policy(request)) {
            return policy.decide(request);
        }
        self.recall(request).or_else(|| self.policy.decide(request))
    }

    /// Cancels the pending permission requests of a session, before `session/cancel` is sent. Requests that arrive
    /// later are cancelled too, until the returned value is dropped when the turn has ended.
    ///
    /// A runtime that cancels a request's future with its turn, such as `agentwire-acp-client`, does not need this.
    ///
    /// ```
    /// # use agentwire_acp_toolkit::Permissions;
    /// # async fn cancel(permissions: &Permissions, session: agentwire_acp_schema::v1::SessionId) {
    /// let cancelling = permissions.cancel(&session);
    /// // Send `session/cancel`, and wait until the prompt is answered.
    /// drop(cancelling);
    /// # }
    /// ```
    pub fn cancel(&self, session: &SessionId) -> CancelGuard {
        self.cancels.cancel(session)
    }

    /// Remembers the user's answer, if it is an option of kind `allow_always` or `reject_always`.
    pub fn record(&self, request: &RequestPermissionRequest, response: &RequestPermissionResponse) {
        let RequestPermissionOutcome::Selected(selected) = &response.outcome else { return };
        let option = request.options.iter().find(|option| option.option_id == selected.option_id);
        let always = option.map(|option| &option.kind).filter(|kind| {
            matches!(kind, PermissionOptionKind::AllowAlways | PermissionOptionKind::RejectAlways)
        });
        if let (Some(kind), Some(subject)) = (always, self.subject(request)) {
            let mut decided = self.decisions();
            let full = decided.count >= self.limit;
            let known = |session: &HashMap<_, _>| session.contains_key(&subject);
            if full && !decided.sessions.get(&request.session_id).is_some_and(known) {
                return;
            }
            let session = decided.sessions.entry(request.session_id.clone()).or_default();
            if session.insert(subject, kind.clone()).is_none() {
                decided.count += 1;
            }
        }
    }

    /// Forgets the decisions of a session.
    pub fn forget(&self, session: &SessionId) {
        let mut decided = self.decisions();
        if let Some(forgotten) = decided.sessions.remove(session) {
            decided.count -= forgotten.len();
        }
    }

    fn recall(&self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        let subject = self.subject(request)?;
        let kind = self.decisions().sessions.get(&request.session_id)?.get(&subject)?.clone();
        let once = match kind {
            PermissionOptionKind::AllowAlways => PermissionOptionKind::AllowOnce,
            _ => PermissionOptionKind::RejectOnce,
        };
        let option = option(request, &kind).or_else(|| option(request, &once))?;
        Some(RequestPermissionResponse::selected(&option.option_id))
    }

    /// Returns the subject of a request, or `None` if the request has too little to compare.
    fn subject(&self, request: &RequestPermissionRequest) -> Option<u64> {
        let call = &request.tool_call;
        match self.remember {
            DecisionScope::Nothing => None,
            DecisionScope::Tool => {
                let tool = call.name.as_ref().map(|name| ("name", name));
                let tool = tool.or_else(|| call.title.as_ref().map(|title| ("title", title)))?;
                Some(self.hasher.hash_one(tool))
            }
            DecisionScope::Call => {
                let input = call.raw_input.as_ref().map(RawJson::as_str);
                // A name alone does not describe the call.
                if call.title.is_none() && input.is_none() {
                    return None;
                }
                // Two calls may differ in their unknown parts.
                if call.locations.iter().flatten().any(|location| location.path.as_os_str() == UNKNOWN_PATH) {
                    return None;
                }
                // Each call has a new terminal.
                let is_compared =
                    |content: &&ToolCallContent| !matches!(content, ToolCallContent::Terminal(_));
                let mut hasher = self.hasher.build_hasher();
                (&call.name, &call.kind, &call.title, input).hash(&mut hasher);
                // Hashes the debug text, since not all types implement `Hash`. The text is never stored: it may be six
                // times as long as the message.
                let mut text = HashText(&mut hasher);
                let _never = write!(text, "{:?}", call.locations);
                for content in call.content.iter().flatten().filter(is_compared) {
                    let _never = write!(text, " {content:?}");
                }
                Some(hasher.finish())
            }
        }
    }

    fn decisions(&self) -> MutexGuard<'_, Decisions> {
        self.decisions.lock()
    }
}

/// Hashes text as it is written.
struct HashText<'a, H>(&'a mut H);

impl<H: Hasher> fmt::Write for HashText<'_, H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// Returns the first option of a kind.
fn option<'a>(
    request: &'a RequestPermissionRequest,
    kind: &PermissionOptionKind,
) -> Option<&'a PermissionOption> {
    request.options.iter().find(|option| option.kind == *kind)
}
