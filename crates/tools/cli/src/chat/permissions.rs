//! Answers an agent's permission requests: by the rules of the command line, by `--yes`, or by the person.

pub(crate) mod permission_rules;

use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{
    RequestPermissionRequest, RequestPermissionResponse, ToolCallId, ToolCallUpdate, ToolKind,
};
use agentwire_acp_toolkit::{
    Conversation, DecisionScope, PermissionPolicy, Permissions, Update, Workspaces, complete_call, known_call,
};
use agentwire_sync::Mutex;

use crate::chat::permissions::permission_rules::PermissionRules;
use crate::chat::session::per_session::{PerSession, SessionChange};
use crate::chat::view::call_details::without_shell;
use crate::output::text::one_line;
use crate::terminal::{User, View};

/// The most memory of the known tool calls: 8 MiB. Beyond it, calls are dropped and become unknown.
const KNOWN_CALLS_LIMIT: usize = 8 << 20;

/// The reason of a refusal without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A rule of `--deny` forbids the call.
    Rule,
    /// No person can be asked, and nothing allows the call.
    NoPerson,
}

impl Refusal {
    /// The error text of the command, with advice.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Rule => "a rule of --deny has refused a permission",
            Self::NoPerson => {
                "a permission was refused, because nobody is at a terminal to be asked; see --approve-reads, --allow and --yes"
            }
        }
    }
}

/// Answers permission requests of both versions.
pub(super) struct PermissionChecker {
    rules: PermissionRules,
    /// Whether `--yes` was given.
    grants_all: bool,
    /// `None` if there is no person to ask.
    user: Option<User>,
    view: Arc<View>,
    memory: Mutex<PerSession<PermissionMemory>>,
    /// Held while the person is asked. Waiting requests hold no copies of the known calls.
    asking: tokio::sync::Mutex<()>,
    /// The last refusal of the turn.
    refusal: Mutex<Option<Refusal>>,
}

/// The known calls of a session, and the person's lasting answers.
struct PermissionMemory {
    /// The tool calls that the agent has sent. A request may name a call by its id only.
    calls: Conversation,
    /// The answers of the person that hold for the whole session.
    decisions: Permissions,
}

/// The decision on a request.
enum Judgement {
    Answer(RequestPermissionResponse),
    /// Ask the person with this request.
    Ask(Box<RequestPermissionRequest>),
}

/// Permissions that ask about every call, because the checker decides.
pub(super) fn all_asked() -> Permissions {
    Permissions::new(PermissionPolicy::Ask).remember(DecisionScope::Nothing)
}

impl PermissionChecker {
    pub(super) fn new(rules: PermissionRules, grants_all: bool, user: Option<User>, view: Arc<View>) -> Self {
        let memory = PerSession::new(PermissionMemory::new(&rules)).into();
        Self { rules, grants_all, user, view, memory, asking: Default::default(), refusal: Mutex::default() }
    }

    /// Follows a change of the session: another one begins without known calls.
    pub(super) fn follow(&self, change: SessionChange) {
        self.memory.lock().follow(change, || PermissionMemory::new(&self.rules));
    }

    /// Whether answers depend on the calls.
    fn judges_calls(&self) -> bool {
        !self.grants_all || !self.rules.is_empty()
    }

    /// Whether the agent may read files by this program.
    pub(super) fn may_read(&self) -> bool {
        self.rules.may_read()
    }

    /// Whether the agent may write files by this program.
    pub(super) fn may_write(&self) -> bool {
        self.rules.may(&ToolKind::Edit, self.grants_all || self.user.is_some())
    }

    /// Whether the agent may run commands by this program.
    pub(super) fn may_execute(&self) -> bool {
        self.rules.may(&ToolKind::Execute, self.grants_all || self.user.is_some())
    }

    /// Workspaces without the files that a rule forbids the agent to read.
    pub(super) fn workspaces(&self) -> Workspaces {
        let workspaces = self.rules.confine(Workspaces::new());
        workspaces.expect("the patterns were accepted when the rules were read")
    }

    /// Remembers the data of a tool call in an update.
    pub(super) fn observe(&self, update: &(impl Clone + Into<Update>)) {
        if self.judges_calls() {
            let _nothing_is_drawn = self.memory.lock().calls.apply(update.clone());
        }
    }

    /// Answers a request. A rule of `--deny` wins over one of `--allow`, and that over `--yes` and the person.
    ///
    /// The rules and the person judge the same call: that of the request, completed with the data that the agent sent of it before.
    /// `is_ours` is false for a call of another session, of which nothing is known.
    ///
    /// # Errors
    ///
    /// When the person cannot be asked.
    pub(super) async fn answer(
        &self,
        request: &RequestPermissionRequest,
        is_ours: bool,
    ) -> Result<RequestPermissionResponse, Error> {
        if let Judgement::Answer(response) = self.judge(request, is_ours) {
            return Ok(response);
        }
        let _asking = self.asking.lock().await;
        // The answer to the question before, or a later update, may decide on this call too.
        match (self.judge(request, is_ours), &self.user) {
            (Judgement::Ask(whole), Some(user)) => {
                let response = user.ask_permission(&whole).await?;
                self.memory.lock().decisions.record(&whole, &response);
                Ok(response)
            }
            (Judgement::Answer(response), _) => Ok(response),
            (Judgement::Ask(whole), None) => Ok(rejection(&whole)),
        }
    }

    fn judge(&self, request: &RequestPermissionRequest, is_ours: bool) -> Judgement {
        if !self.judges_calls()
            && let Some(response) = PermissionPolicy::AllowAll.decide(request)
        {
            return Judgement::Answer(response);
        }
        let known = self.known(&request.tool_call.tool_call_id, is_ours);
        let mut whole = request.clone();
        if let Some(known) = &known {
            complete_call(&mut whole.tool_call, known);
        }
        if let Some(response) = self.memory.lock().decisions.decide(&whole) {
            return Judgement::Answer(response);
        }
        if !self.rules.is_empty()
            && let Some(response) = self.by_rule(&whole, known)
        {
            return Judgement::Answer(response);
        }
        if self.grants_all
            && let Some(response) = PermissionPolicy::AllowAll.decide(&whole)
        {
            return Judgement::Answer(response);
        }
        if self.user.is_some() {
            return Judgement::Ask(Box::new(whole));
        }
        let permits = match &whole.tool_call.kind {
            Some(ToolKind::Read | ToolKind::Search) => "--approve-reads permits such calls, ".to_owned(),
            Some(ToolKind::Unknown(_)) | None => String::new(),
            Some(kind) => format!("--allow {} permits such calls, ", kind.as_str()),
        };
        let why = format!(
            "rejected, because nobody is at a terminal to be asked ({permits}--yes permits everything)"
        );
        self.refuse(Refusal::NoPerson, &why, whole.tool_call.title.as_deref());
        Judgement::Answer(rejection(&whole))
    }

    /// The answer of the rules. The data in a request must not hide earlier data of the call from the rules.
    fn by_rule(
        &self,
        whole: &RequestPermissionRequest,
        known: Option<ToolCallUpdate>,
    ) -> Option<RequestPermissionResponse> {
        let earlier = known.map(|mut known| {
            // The new data of the request may be the kind, the command or the path that was not known then.
            complete_call(&mut known, &whole.tool_call);
            RequestPermissionRequest::new(&whole.session_id, known, whole.options.clone())
        });
        let inner = without_shell(whole);
        let earlier_inner = earlier.as_ref().map(without_shell);
        let said = [Some(whole), earlier.as_ref(), Some(&inner), earlier_inner.as_ref()];
        if let Some(rule) = said.into_iter().flatten().find_map(|said| self.rules.denying(said)) {
            let why = format!("rejected by --deny {rule}");
            self.refuse(Refusal::Rule, &why, whole.tool_call.title.as_deref());
            return Some(rejection(whole));
        }
        self.rules.allowing(&inner)
    }

    /// The data that the agent sent of a call before.
    fn known(&self, id: &ToolCallId, is_ours: bool) -> Option<ToolCallUpdate> {
        // The question about a command of version 2 is about no call.
        if !is_ours || id.is_empty() {
            return None;
        }
        self.memory.lock().calls.tool_call(id).map(|(_, entry)| known_call(entry))
    }

    /// Takes the last refusal since the last call.
    pub(super) fn take_refusal(&self) -> Option<Refusal> {
        self.refusal.lock().take()
    }

    fn refuse(&self, refusal: Refusal, why: &str, title: Option<&str>) {
        *self.refusal.lock() = Some(refusal);
        let title = title.unwrap_or("a tool call without a title");
        self.view.diagnostics().add(&format!("{why}: {}", one_line(title)));
    }
}

impl PermissionMemory {
    /// With `--deny`, no answer holds for later calls: one with the same title may be denied.
    fn new(rules: &PermissionRules) -> Self {
        let decisions =
            if rules.has_denials() { all_asked() } else { Permissions::new(PermissionPolicy::Ask) };
        Self { calls: Conversation::new().limit(KNOWN_CALLS_LIMIT), decisions }
    }
}

/// Rejects a request, or cancels it if no option rejects.
fn rejection(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    PermissionPolicy::RejectAll.decide(request).unwrap_or_else(RequestPermissionResponse::cancelled)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use agentwire_acp_schema::v1::{PermissionOption, PermissionOptionKind, ToolCall};
    use agentwire_acp_schema::v2;
    use agentwire_acp_toolkit::Choices;
    use serde_json::json;

    use super::*;
    use crate::output::text::Notes;
    use crate::terminal::Format;

    fn checker(deny: &[&str]) -> PermissionChecker {
        let deny: Vec<_> = deny.iter().map(|rule| rule.parse().unwrap()).collect();
        let rules = PermissionRules::new(&[], &deny, false, Path::new("/")).unwrap();
        let view = Arc::new(View::new(Format::Json, Notes::new()));
        PermissionChecker::new(rules, !deny.is_empty(), None, view)
    }

    /// A request with this data of its call.
    fn request(call: ToolCallUpdate) -> RequestPermissionRequest {
        let options = [
            PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        ];
        RequestPermissionRequest::new("s1", call, options)
    }

    async fn is_allowed(checker: &PermissionChecker, call: ToolCallUpdate) -> bool {
        let response = checker.answer(&request(call), true).await.unwrap();
        response == RequestPermissionResponse::selected("yes")
    }

    #[tokio::test]
    async fn command_that_is_too_long_to_keep_is_unknown() {
        let checker = checker(&["execute:rm"]);
        let call = ToolCall::new("c1", "Bash").kind(ToolKind::Execute);
        checker.observe(&call.raw_input(json!({ "command": "ls" })));
        assert!(is_allowed(&checker, ToolCallUpdate::new("c1")).await);
        let long = format!("rm x{}", " ".repeat(KNOWN_CALLS_LIMIT / 16));
        checker.observe(&ToolCallUpdate::new("c1").raw_input(json!({ "command": long })));
        assert!(!is_allowed(&checker, ToolCallUpdate::new("c1")).await);
        assert_eq!(checker.take_refusal(), Some(Refusal::Rule));
    }

    #[tokio::test]
    async fn a_rule_on_a_shell_holds_for_the_shell_and_for_what_it_runs() {
        let call = |words: &[&str]| {
            ToolCallUpdate::new("c1").kind(ToolKind::Execute).raw_input(json!({ "command": words }))
        };
        for (rule, expected) in [("execute:bash", false), ("execute:ls", false), ("execute:rm", true)] {
            assert_eq!(is_allowed(&checker(&[rule]), call(&["bash", "-lc", "ls"])).await, expected, "{rule}");
        }
    }

    #[tokio::test]
    async fn rule_for_any_kind_covers_a_call_without_a_kind() {
        let checker = checker(&["execute"]);
        checker.observe(&ToolCall::new("c1", "Something"));
        assert!(!is_allowed(&checker, ToolCallUpdate::new("c1")).await);
        checker.observe(&ToolCallUpdate::new("c1").kind(ToolKind::Other));
        assert!(is_allowed(&checker, ToolCallUpdate::new("c1")).await);
        // An unknown word names no kind.
        checker.observe(&ToolCallUpdate::new("c1").kind(ToolKind::Unknown("shell".into())));
        assert!(!is_allowed(&checker, ToolCallUpdate::new("c1")).await);
    }

    /// The rules judge what the person sees, in both versions.
    #[test]
    fn the_person_sees_the_known_data_of_a_call() {
        let shown = |checker: &PermissionChecker, request: &RequestPermissionRequest, is_ours| {
            let mut whole = request.clone();
            if let Some(known) = checker.known(&request.tool_call.tool_call_id, is_ours) {
                complete_call(&mut whole.tool_call, &known);
            }
            Choices::new(&whole).to_string()
        };
        let bare = request(ToolCallUpdate::new("c1"));
        let older = checker(&[]);
        let call = ToolCall::new("c1", "Clean up").kind(ToolKind::Execute);
        older.observe(&call.raw_input(json!({ "command": "rm x" })));
        let text = shown(&older, &bare, true);
        assert!(
            text.contains("kind: execute\n") && text.contains("rm x") && text.contains("\n  Clean up\n"),
            "{text}"
        );
        // A call of another session may have the same id.
        assert!(!shown(&older, &bare, false).contains("Clean up"));
        let newer = checker(&[]);
        let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "kind": "edit", "content": [
            { "type": "diff", "changes": [{ "operation": "delete", "path": "/a" }], "patch": { "format": "unified", "text": "-x" } }
        ] });
        newer.observe(&serde_json::from_value::<v2::SessionUpdate>(update).unwrap());
        let text = shown(&newer, &bare, true);
        assert!(
            text.contains("kind: edit\n") && text.contains("at: /a\n") && text.contains("says: delete /a\n"),
            "{text}"
        );
    }

    /// An agent may reuse the ids of one session in another.
    #[tokio::test]
    async fn a_new_session_knows_no_calls_and_a_session_that_goes_on_knows_its_own() {
        let checker = checker(&["execute:rm"]);
        let call = ToolCall::new("c1", "Bash").kind(ToolKind::Execute);
        checker.observe(&call.raw_input(json!({ "command": "ls" })));
        for (change, is_known) in [
            (SessionChange::Begins, false),
            (SessionChange::Fails, true),
            (SessionChange::Begins, false),
            (SessionChange::Succeeds, false),
        ] {
            checker.follow(change);
            assert_eq!(is_allowed(&checker, ToolCallUpdate::new("c1")).await, is_known, "{change:?}");
        }
    }
}
