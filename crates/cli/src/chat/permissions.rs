//! Answers an agent's permission requests: by the rules of the command line, by `--yes`, or by the person.

use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{
    RequestPermissionRequest, RequestPermissionResponse, ToolCallContent, ToolCallLocation, ToolCallUpdate,
    ToolKind,
};
use agentwire_acp_schema::{v1, v2};
use agentwire_acp_toolkit::{Conversation, DecisionScope, PermissionPolicy, Permissions, Workspaces};
use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_sync::Mutex;
use serde_json::json;

use super::permission_rules::PermissionRules;
use crate::terminal::{User, View};
use crate::text::one_line;

/// The most memory of the known tool calls: 8 MiB. Of a call that is dropped nothing is known.
const KNOWN_CALLS_LIMIT: usize = 8 << 20;

/// Stands for a path that is not known. It is not absolute, so no rule allows it, and every rule with a path denies it.
const UNKNOWN_PATH: &str = "(unknown path)";

/// Why a permission was refused without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A rule of `--deny` forbids the call.
    Rule,
    /// The person is not there, and nothing allows the call.
    Nobody,
}

impl Refusal {
    /// Why the command fails, with what to do about it.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Rule => "a rule of --deny has refused a permission",
            Self::Nobody => {
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
    /// None where there is no person to ask.
    user: Option<User>,
    view: Arc<View>,
    /// What the agent has said of its tool calls. A request may name a call by its id only.
    known: Mutex<Conversation>,
    /// The last refusal of the turn.
    refusal: Mutex<Option<Refusal>>,
}

impl PermissionChecker {
    pub(super) fn new(rules: PermissionRules, grants_all: bool, user: Option<User>, view: Arc<View>) -> Self {
        let known = Mutex::new(Conversation::new().limit(KNOWN_CALLS_LIMIT));
        Self { rules, grants_all, user, view, known, refusal: Mutex::default() }
    }

    /// Whether there are rules.
    pub(super) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// What asks this checker, and remembers the answers that hold for always. With `--deny` it remembers none: a later call with
    /// the same title may be one that is denied.
    pub(super) fn decisions(&self) -> Permissions {
        let asks = Permissions::new(PermissionPolicy::Ask);
        if self.rules.has_denials() { asks.remember(DecisionScope::Nothing) } else { asks }
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

    /// Workspaces without the files that a rule keeps the agent out of.
    pub(super) fn workspaces(&self) -> Workspaces {
        let workspaces = self.rules.confine(Workspaces::new());
        workspaces.expect("the patterns were accepted when the rules were read")
    }

    /// Remembers what an update of version 1 says of a tool call.
    pub(super) fn observe(&self, update: &v1::SessionUpdate) {
        use v1::SessionUpdate::{ToolCall, ToolCallUpdate};
        if !self.rules.is_empty() && matches!(update, ToolCall(_) | ToolCallUpdate(_)) {
            let _nothing_is_drawn = self.known.lock().apply(update.clone());
        }
    }

    /// Remembers what an update of version 2 says of a tool call.
    pub(super) fn observe_v2(&self, update: &v2::SessionUpdate) {
        use v2::SessionUpdate::{ToolCallContentChunk, ToolCallUpdate};
        if !self.rules.is_empty() && matches!(update, ToolCallContentChunk(_) | ToolCallUpdate(_)) {
            let _nothing_is_drawn = self.known.lock().apply(update.clone());
        }
    }

    /// Answers a request. A rule of `--deny` goes before one of `--allow`, and that before `--yes` and the person.
    ///
    /// # Errors
    ///
    /// When the person cannot be asked.
    pub(super) async fn answer(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        if !self.rules.is_empty() {
            let (whole, earlier) = self.whole(request);
            let denying = self.rules.denying(&whole);
            let denying =
                denying.or_else(|| earlier.as_ref().and_then(|earlier| self.rules.denying(earlier)));
            if let Some(rule) = denying {
                self.refuse(
                    Refusal::Rule,
                    &format!("rejected by --deny {rule}"),
                    whole.tool_call.title.as_deref(),
                );
                return Ok(rejection(request));
            }
            if let Some(response) = self.rules.allowing(&whole) {
                return Ok(response);
            }
        }
        if self.grants_all
            && let Some(response) = PermissionPolicy::AllowAll.decide(request)
        {
            return Ok(response);
        }
        if let Some(user) = &self.user {
            return user.ask_permission(request).await;
        }
        let kind = match (&request.tool_call.kind, self.rules.is_empty()) {
            (None, false) => self.whole(request).0.tool_call.kind,
            (kind, _) => kind.clone(),
        };
        let permits = match kind {
            Some(ToolKind::Read | ToolKind::Search) => "--approve-reads permits such calls, ".to_owned(),
            Some(ToolKind::Unknown(_)) | None => String::new(),
            Some(kind) => format!("--allow {} permits such calls, ", kind.as_str()),
        };
        let why = format!(
            "rejected, because nobody is at a terminal to be asked ({permits}--yes permits everything)"
        );
        self.refuse(Refusal::Nobody, &why, request.tool_call.title.as_deref());
        Ok(rejection(request))
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

    /// The request with what it leaves out and the agent has said of the call before, and a request of the earlier call alone:
    /// a request must not hide from a rule what was said before.
    fn whole(
        &self,
        request: &RequestPermissionRequest,
    ) -> (RequestPermissionRequest, Option<RequestPermissionRequest>) {
        fn fill<T>(field: &mut Option<T>, earlier: &Option<T>)
        where
            T: Clone,
        {
            if field.is_none() {
                field.clone_from(earlier);
            }
        }
        let mut whole = request.clone();
        let known = self.known.lock();
        let earlier = known.tool_call(&request.tool_call.tool_call_id).map(|(_, entry)| {
            let call = &entry.call;
            let mut earlier = ToolCallUpdate::new(call.tool_call_id.clone());
            earlier.title = Some(call.title.clone()).filter(|title| !title.is_empty());
            earlier.kind = Some(call.kind.clone());
            earlier.content = Some(call.content.clone()).filter(|content| !content.is_empty());
            earlier.locations = Some(call.locations.clone()).filter(|locations| !locations.is_empty());
            (earlier.name, earlier.raw_input) = (call.name.clone(), call.raw_input.clone());
            // A diff of version 2 is an unknown content in the types of version 1.
            let is_unknown = |content: &ToolCallContent| matches!(content, ToolCallContent::Unknown(_));
            if entry.omitted > 0 || call.content.iter().any(is_unknown) {
                earlier.locations.get_or_insert_default().push(ToolCallLocation::new(UNKNOWN_PATH));
            }
            // What was left out may be a later command than the one that is kept.
            if entry.omitted > 0 {
                earlier.raw_input = None;
            }
            earlier
        });
        drop(known);
        let call = &mut whole.tool_call;
        if let Some(earlier) = &earlier {
            fill(&mut call.title, &earlier.title);
            fill(&mut call.kind, &earlier.kind);
            fill(&mut call.content, &earlier.content);
            fill(&mut call.locations, &earlier.locations);
            fill(&mut call.name, &earlier.name);
            fill(&mut call.raw_input, &earlier.raw_input);
        }
        unwrap_shell(call);
        let earlier = earlier.map(|mut earlier| {
            unwrap_shell(&mut earlier);
            // What the request says now may be the command or the path that was not known then.
            fill(&mut earlier.content, &call.content);
            fill(&mut earlier.locations, &call.locations);
            fill(&mut earlier.raw_input, &call.raw_input);
            RequestPermissionRequest::new(&request.session_id, earlier, request.options.clone())
        });
        (whole, earlier)
    }
}

/// Rejects a request, or cancels it where no option rejects.
fn rejection(request: &RequestPermissionRequest) -> RequestPermissionResponse {
    PermissionPolicy::RejectAll.decide(request).unwrap_or_else(RequestPermissionResponse::cancelled)
}

/// Replaces `["bash", "-lc", TEXT]` by the text, which is the command that the shell runs.
fn unwrap_shell(call: &mut ToolCallUpdate) {
    const SHELLS: [&str; 3] = ["sh", "bash", "zsh"];
    let Some(Ok(input)) = call.raw_input.clone().map(RawObject::try_from) else { return };
    // Arguments, an environment or a second command change what the words mean.
    let is_plain = !input.contains_key("args")
        && !input.contains_key("env")
        && input.iter().filter(|(name, _)| *name == "command").count() == 1;
    let words = input.get("command").and_then(|command| command.decode::<Vec<String>>().ok());
    if is_plain
        && let Some([shell, flag, text]) = words.as_deref()
        && matches!(&**flag, "-c" | "-lc")
        && SHELLS.iter().any(|known| shell == known || *shell == format!("/bin/{known}"))
    {
        call.raw_input = RawJson::encode(&json!({ "command": text })).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use agentwire_acp_schema::v1::{PermissionOption, PermissionOptionKind, ToolCall};

    use super::*;
    use crate::terminal::Format;
    use crate::text::Notes;

    #[tokio::test]
    async fn a_command_that_is_not_kept_is_not_the_one_before_it() {
        let deny = ["execute:rm".parse().unwrap()];
        let rules = PermissionRules::new(&[], &deny, false, Path::new("/")).unwrap();
        let view = Arc::new(View::new(Format::Json, Notes::new()));
        let checker = PermissionChecker::new(rules, true, None, view);
        let options = [
            PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        ];
        let request = RequestPermissionRequest::new("s1", ToolCallUpdate::new("c1"), options);
        let call = ToolCall::new("c1", "Bash").kind(ToolKind::Execute);
        checker.observe(&call.raw_input(json!({ "command": "ls" })).into());
        let allowed = checker.answer(&request).await.unwrap();
        assert_eq!(allowed, RequestPermissionResponse::selected("yes"));
        let long = format!("rm x{}", " ".repeat(KNOWN_CALLS_LIMIT / 16));
        checker.observe(&ToolCallUpdate::new("c1").raw_input(json!({ "command": long })).into());
        let refused = checker.answer(&request).await.unwrap();
        assert_eq!(refused, RequestPermissionResponse::selected("no"));
        assert_eq!(checker.take_refusal(), Some(Refusal::Rule));
    }
}
