mod cancelling;
mod choices;
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

pub use cancelling::Cancelling;
pub use choices::Choices;
pub use prompt::PermissionPrompt;
pub use rule::PermissionRule;

use cancelling::Gates;

/// How many decisions are remembered unless [`Permissions::limit`] says otherwise.
const LIMIT: usize = 10_000;

/// Who decides about the tool calls that nobody has decided about before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPolicy {
    /// The user.
    #[default]
    Ask,
    /// Nobody: the call is allowed, for this once where there is such an option, because "always" can change how an agent
    /// goes on. An agent that is run like this can do whatever its model comes to think of.
    AllowAll,
    /// Nobody: the call is rejected, likewise; the outcome is cancelled where there is no option for that.
    RejectAll,
}

impl PermissionPolicy {
    /// What it answers by itself. None when it is to be asked.
    ///
    /// Options of a kind that is not known are never selected. Where nothing fits the outcome is cancelled.
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

/// What `allow_always` and `reject_always` are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remember {
    /// The same call: the same tool, kind, title, input, locations and content. An agent that asks although it was told "always"
    /// means something that it does not take to be covered, so this is the default.
    #[default]
    Call,
    /// The same tool, whatever it is called with: by its name, or by the title where it has no name.
    Tool,
    /// Nothing: the agent is left to remember it.
    Nothing,
}

/// Permission requests, answered by rules, by what was decided before, by a policy, or by somebody who is asked.
///
/// In this order: the first [rule](Self::rule) that is about the call; what the user decided with an option of kind
/// `allow_always` or `reject_always`, which holds within its session until the session is [forgotten](Self::forget) or
/// this is dropped (nothing is stored); the policy; the user.
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission>.
#[derive(Debug)]
pub struct Permissions {
    policy: PermissionPolicy,
    rules: Vec<PermissionRule>,
    remember: Remember,
    limit: usize,
    decided: Mutex<Decided>,
    hasher: RandomState,
    gates: Gates,
}

/// What was decided about a subject, which is here only as its hash: the agent decides how large it is.
#[derive(Debug, Default)]
struct Decided {
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
            remember: Remember::default(),
            limit: LIMIT,
            decided: Mutex::default(),
            hasher: RandomState::new(),
            gates: Gates::default(),
        }
    }

    /// Adds a rule, which counts where no rule before it does. One with [`PermissionPolicy::Ask`] asks, whatever was
    /// decided before.
    #[must_use]
    pub fn rule(mut self, rule: PermissionRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets how many decisions are remembered at most, in all sessions (default 10,000). Then nothing more is remembered,
    /// and the user is asked again.
    #[must_use]
    pub fn limit(mut self, decisions: usize) -> Self {
        self.limit = decisions;
        self
    }

    /// Sets what "always" is about (default [`Remember::Call`]).
    #[must_use]
    pub fn remember(mut self, remember: Remember) -> Self {
        self.remember = remember;
        self
    }

    /// `session/request_permission`: the answer, for which `ask` is called only when it has to be.
    ///
    /// When the turn is [cancelled](Self::cancel) meanwhile, `ask` is dropped and the answer is cancelled. So it is for a
    /// request without options, since there is nothing to select.
    ///
    /// # Errors
    ///
    /// Those of `ask`, and "internal error" if it selects what was not offered.
    pub async fn answer(
        &self,
        request: &RequestPermissionRequest,
        ask: impl AsyncFnOnce(&RequestPermissionRequest) -> Result<RequestPermissionResponse, Error>,
    ) -> Result<RequestPermissionResponse, Error> {
        let mut hold = self.gates.hold(&request.session_id);
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

    /// The answer that needs nobody: by a rule, from memory or by policy.
    pub fn decide(&self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        if request.options.is_empty() {
            return Some(RequestPermissionResponse::cancelled());
        }
        if let Some(policy) = self.rules.iter().find_map(|rule| rule.policy(request)) {
            return policy.decide(request);
        }
        self.recall(request).or_else(|| self.policy.decide(request))
    }

    /// `session/cancel` is about to be sent: every request of the session that waits for an answer is answered as
    /// cancelled, and so is each that still comes until what this gives is dropped, when the turn has ended.
    ///
    /// A runtime that drops what answers a request when its turn is cancelled, such as `agentwire-acp-client`, does without
    /// this.
    ///
    /// ```
    /// # use agentwire_acp_toolkit::Permissions;
    /// # async fn cancel(permissions: &Permissions, session: agentwire_acp_schema::v1::SessionId) {
    /// let cancelling = permissions.cancel(&session);
    /// // Send `session/cancel`, and wait until the prompt is answered.
    /// drop(cancelling);
    /// # }
    /// ```
    pub fn cancel(&self, session: &SessionId) -> Cancelling {
        self.gates.cancel(session)
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

    /// Forgets what was decided in a session.
    pub fn forget(&self, session: &SessionId) {
        let mut decided = self.decided();
        if let Some(forgotten) = decided.sessions.remove(session) {
            decided.count -= forgotten.len();
        }
    }

    fn recall(&self, request: &RequestPermissionRequest) -> Option<RequestPermissionResponse> {
        let subject = self.subject(request)?;
        let kind = self.decided().sessions.get(&request.session_id)?.get(&subject)?.clone();
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
                let input = call.raw_input.as_ref().map(RawJson::as_str);
                // A name alone says nothing about what the tool is to do.
                if call.title.is_none() && input.is_none() {
                    return None;
                }
                // A terminal is a new one for every call.
                let told = |content: &&ToolCallContent| !matches!(content, ToolCallContent::Terminal(_));
                let mut hasher = self.hasher.build_hasher();
                (&call.name, &call.kind, &call.title, input).hash(&mut hasher);
                // As it is written, since not all of it has a hash. That text is never there: it may be six times as long as
                // the message.
                let mut text = HashText(&mut hasher);
                let _never = write!(text, "{:?}", call.locations);
                for content in call.content.iter().flatten().filter(told) {
                    let _never = write!(text, " {content:?}");
                }
                Some(hasher.finish())
            }
        }
    }

    fn decided(&self) -> MutexGuard<'_, Decided> {
        self.decided.lock()
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

/// The first option of a kind.
fn option<'a>(
    request: &'a RequestPermissionRequest,
    kind: &PermissionOptionKind,
) -> Option<&'a PermissionOption> {
    request.options.iter().find(|option| option.kind == *kind)
}

/// Rejects the call; cancelled where that is no option.
fn reject(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    first_of(request, [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways])
}

/// Selects the first option of the first of these kinds that there is.
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
