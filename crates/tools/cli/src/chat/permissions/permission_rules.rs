//! The rules of `--allow`, `--deny` and `--approve-reads`, and the tool calls that they cover.

use std::path::Path;
use std::str::FromStr;

use agentwire_acp_schema::v1::{
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, ToolKind,
};
use agentwire_acp_toolkit::{InvalidPattern, PermissionPolicy, PermissionRule, Permissions, Workspaces};

use crate::chat::view::call_details::{has_command, has_diff, has_paths, has_whole_command};
use crate::failure::Usage;

/// The kinds of tools that a rule can name, as on the wire.
const KINDS: [(&str, ToolKind); 10] = [
    ("read", ToolKind::Read),
    ("edit", ToolKind::Edit),
    ("delete", ToolKind::Delete),
    ("move", ToolKind::Move),
    ("search", ToolKind::Search),
    ("execute", ToolKind::Execute),
    ("think", ToolKind::Think),
    ("fetch", ToolKind::Fetch),
    ("switch_mode", ToolKind::SwitchMode),
    ("other", ToolKind::Other),
];

/// `KIND`, `KIND:PATH` or `execute:COMMAND`, as the person wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleText {
    text: String,
    kind: ToolKind,
    pattern: Option<String>,
}

impl FromStr for RuleText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, pattern) = match text.split_once(':') {
            Some((name, pattern)) => (name, Some(pattern.trim())),
            None => (text, None),
        };
        let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
            let names: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            return Err(format!("a rule begins with one of: {}", names.join(", ")));
        };
        if pattern == Some("") {
            return Err("there is nothing after the colon".into());
        }
        let takes_no_pattern =
            matches!(kind, ToolKind::Think | ToolKind::Fetch | ToolKind::SwitchMode | ToolKind::Other);
        if takes_no_pattern && pattern.is_some() {
            return Err(format!("`{name}` has neither a path nor a command: write `{name}` alone"));
        }
        Ok(Self { text: text.to_owned(), kind: kind.clone(), pattern: pattern.map(str::to_owned) })
    }
}

/// The rules of a chat.
#[derive(Debug, Default)]
pub(in crate::chat) struct PermissionRules {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    text: String,
    kind: ToolKind,
    /// The toolkit's patterns: absolute patterns of paths, or the words of a command. If the directory is reached by a link, a
    /// relative pattern becomes two: an agent may name its files by either path.
    patterns: Vec<String>,
    /// Decides the calls that the rule covers, and asks about others.
    covers: Permissions,
}

impl PermissionRules {
    /// Reads the rules. Relative patterns of paths begin at `cwd`.
    ///
    /// # Errors
    ///
    /// For a pattern that nothing could match.
    pub(in crate::chat) fn new(
        allow: &[RuleText],
        deny: &[RuleText],
        approve_reads: bool,
        cwd: &Path,
    ) -> Result<Self, Usage> {
        let usage = |option: &str, rule: &RuleText, why: InvalidPattern| {
            Usage(format!("--{option} {}: {why}", rule.text))
        };
        let mut rules = Self::default();
        for rule in allow {
            rules.allow.push(Rule::allow(rule, cwd).map_err(|why| usage("allow", rule, why))?);
        }
        if approve_reads {
            let kind = |kind: &ToolKind| RuleText { text: String::new(), kind: kind.clone(), pattern: None };
            for kind in [ToolKind::Read, ToolKind::Search].iter().map(kind) {
                rules.allow.push(Rule::allow(&kind, cwd).map_err(|why| usage("approve-reads", &kind, why))?);
            }
        }
        for rule in deny {
            rules.deny.push(Rule::deny(rule, cwd).map_err(|why| usage("deny", rule, why))?);
        }
        Ok(rules)
    }

    /// Whether there are no rules.
    pub(in crate::chat) fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }

    /// The rule of `--deny` that covers the call of a request.
    pub(in crate::chat) fn denying(&self, request: &RequestPermissionRequest) -> Option<&str> {
        self.deny.iter().find(|rule| rule.denies(request)).map(|rule| &*rule.text)
    }

    /// The answer to a request whose call a rule allows.
    pub(in crate::chat) fn allowing(
        &self,
        request: &RequestPermissionRequest,
    ) -> Option<RequestPermissionResponse> {
        let granted = |response: &RequestPermissionResponse| {
            matches!(response.outcome, RequestPermissionOutcome::Selected(_))
        };
        self.allow.iter().filter_map(|rule| rule.covers.decide(request)).find(granted)
    }

    /// Whether something is denied.
    pub(in crate::chat) fn has_denials(&self) -> bool {
        !self.deny.is_empty()
    }

    /// Whether the agent may read files by this program.
    pub(in crate::chat) fn may_read(&self) -> bool {
        !self.deny.iter().any(|rule| rule.kind == ToolKind::Read && rule.patterns.is_empty())
    }

    /// Whether the agent may use this program for actions that are not asked about one by one. `otherwise` is the answer without
    /// rules. A rule with a pattern does not permit it, because not every action matches.
    pub(in crate::chat) fn may(&self, kind: &ToolKind, otherwise: bool) -> bool {
        let is_whole = |rule: &Rule| rule.kind == *kind && rule.patterns.is_empty();
        let is_denied = self.deny.iter().any(|rule| rule.kind == *kind);
        !is_denied && (otherwise || self.allow.iter().any(is_whole))
    }

    /// Keeps the agent out of the files that it must not read.
    ///
    /// # Errors
    ///
    /// Never: the patterns were read before.
    pub(in crate::chat) fn confine(&self, mut workspaces: Workspaces) -> Result<Workspaces, InvalidPattern> {
        for rule in self.deny.iter().filter(|rule| rule.kind == ToolKind::Read) {
            for pattern in &rule.patterns {
                workspaces = workspaces.deny(pattern)?;
            }
        }
        Ok(workspaces)
    }
}

impl Rule {
    fn allow(rule: &RuleText, cwd: &Path) -> Result<Self, InvalidPattern> {
        Self::new(rule, PermissionRule::allow().kind(rule.kind.clone()), cwd)
    }

    /// The toolkit's rule has no condition on the kind: [`Self::denies`] checks more than the kind that the call names.
    fn deny(rule: &RuleText, cwd: &Path) -> Result<Self, InvalidPattern> {
        Self::new(rule, PermissionRule::reject(), cwd)
    }

    fn new(rule: &RuleText, condition: PermissionRule, cwd: &Path) -> Result<Self, InvalidPattern> {
        let RuleText { text, kind, pattern } = rule.clone();
        let mut covers = Permissions::new(PermissionPolicy::Ask);
        let patterns = match (pattern, &kind) {
            (None, _) => Vec::new(),
            (Some(command), ToolKind::Execute) => vec![command],
            (Some(path), _) => absolute(&path, cwd),
        };
        for pattern in &patterns {
            let condition = condition.clone();
            covers = covers.rule(match kind {
                ToolKind::Execute => condition.command(pattern)?,
                _ => condition.path(pattern)?,
            });
        }
        if patterns.is_empty() {
            covers = covers.rule(condition);
        }
        Ok(Self { text, kind, patterns, covers })
    }

    /// Whether the rule denies a call. A call without its kind, its paths or its command may be any, so the rule denies it. So does
    /// a call with an unknown kind.
    fn denies(&self, request: &RequestPermissionRequest) -> bool {
        let call = &request.tool_call;
        let is_of_kind = match &call.kind {
            None | Some(ToolKind::Unknown(_)) => true,
            Some(kind) if *kind == self.kind => true,
            Some(_) => match self.kind {
                ToolKind::Execute => has_command(call),
                ToolKind::Edit => has_diff(call),
                _ => false,
            },
        };
        let has_subject = match self.kind {
            _ if self.patterns.is_empty() => false,
            ToolKind::Execute => has_whole_command(call),
            _ => has_paths(call),
        };
        is_of_kind && (!has_subject || self.covers.decide(request).is_some())
    }
}

/// The patterns of absolute paths for a pattern: below the directory as it is named, and as it is without links.
fn absolute(pattern: &str, cwd: &Path) -> Vec<String> {
    let is_absolute =
        pattern.starts_with('/') || pattern.starts_with("**/") || pattern.get(1..3) == Some(":/");
    if is_absolute {
        return vec![pattern.to_owned()];
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let below = |folder: &Path| {
        let folder = folder.to_string_lossy().replace('\\', "/");
        match pattern {
            "." => folder,
            _ => format!("{}/{pattern}", folder.trim_end_matches('/')),
        }
    };
    // On Windows a path without links has another form, which no agent writes.
    let real = if cfg!(unix) { cwd.canonicalize().ok() } else { None };
    let real = real.filter(|real| real != cwd);
    [Some(cwd), real.as_deref()].into_iter().flatten().map(below).collect()
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::{
        PermissionOption, PermissionOptionKind, ToolCallLocation, ToolCallUpdate,
    };
    use serde_json::json;

    use super::*;

    fn rules(allow: &[&str], deny: &[&str]) -> PermissionRules {
        let read =
            |texts: &[&str]| -> Vec<RuleText> { texts.iter().map(|text| text.parse().unwrap()).collect() };
        PermissionRules::new(&read(allow), &read(deny), false, Path::new("/repo")).unwrap()
    }

    fn request(call: ToolCallUpdate) -> RequestPermissionRequest {
        let options = [
            PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        ];
        RequestPermissionRequest::new("s1", call, options)
    }

    fn call(kind: ToolKind) -> ToolCallUpdate {
        ToolCallUpdate::new("c1").kind(kind)
    }

    fn on(kind: ToolKind, path: &str) -> ToolCallUpdate {
        call(kind).locations([ToolCallLocation::new(path)])
    }

    fn runs(command: &str) -> ToolCallUpdate {
        call(ToolKind::Execute).raw_input(json!({ "command": command }))
    }

    #[test]
    fn a_rule_is_a_kind_with_a_path_or_a_command() {
        let faults = |text: &str| text.parse::<RuleText>().unwrap_err();
        assert!(faults("reads").starts_with("a rule begins with one of: read, edit, delete,"));
        assert_eq!(faults("read:"), "there is nothing after the colon");
        assert_eq!(faults("fetch:x"), "`fetch` has neither a path nor a command: write `fetch` alone");
        let rule = "execute:git && rm".parse().unwrap();
        let error = PermissionRules::new(&[rule], &[], false, Path::new("/")).unwrap_err();
        let why = "a command has no operators, expansions and escapes; `*` alone stands for other characters";
        let text = format!("--allow execute:git && rm: \"git && rm\" cannot be used: {why}");
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn call_with_missing_parts_is_denied_and_not_allowed() {
        for (rule, covered, other) in [
            ("edit:src/**", on(ToolKind::Edit, "/repo/src/a.rs"), on(ToolKind::Edit, "/repo/b.rs")),
            ("execute:git *", runs("git status"), runs("gitk")),
            ("execute:npm*", runs("npm run x"), runs("pnpm run x")),
            ("execute:git * --dry-run", runs("git push a --dry-run"), runs("git push a")),
        ] {
            let (allow, deny) = (rules(&[rule], &[]), rules(&[], &[rule]));
            let bare = call(covered.kind.clone().unwrap());
            for (call, allowed, denied) in [
                (covered, true, true),
                (other, false, false),
                (bare, false, true),
                (ToolCallUpdate::new("c1"), false, true),
                (call(ToolKind::Fetch), false, false),
            ] {
                let request = request(call);
                assert_eq!(allow.allowing(&request).is_some(), allowed, "{request:?}");
                assert_eq!(deny.denying(&request).is_some(), denied, "{request:?}");
            }
        }
    }

    /// `*` in an allowing rule does not match a second command. In a denying rule it matches any part of a command.
    #[test]
    fn allowed_command_has_no_operators() {
        let (allow, deny) = (rules(&["execute:npm*"], &[]), rules(&[], &["execute:npm*"]));
        for rest in ["; rm x", " && rm x", " | sh", "\nrm x", " $(rm x)", " `rm x`", " > x", " \"$(rm x)\""] {
            let request = request(runs(&format!("npm run x{rest}")));
            assert!(allow.allowing(&request).is_none(), "{request:?}");
            assert_eq!(deny.denying(&request), Some("execute:npm*"), "{request:?}");
        }
        let list = call(ToolKind::Execute).raw_input(json!({ "command": ["npm", "; rm x"] }));
        assert!(allow.allowing(&request(list)).is_none());
        assert!(deny.denying(&request(runs("cd x && npm-check"))).is_some());
        for args in [json!(["rm", 1]), json!({}), json!(7)] {
            let unread = call(ToolKind::Execute).raw_input(json!({ "command": "ls", "args": args }));
            assert!(deny.denying(&request(unread)).is_some(), "what it runs is not known");
        }
        for pattern in ["execute:npm?", "execute:[ab]", "execute:a;b", "execute:$A", "execute:{a,b}"] {
            let rule = [pattern.parse().unwrap()];
            assert!(PermissionRules::new(&rule, &[], false, Path::new("/")).is_err(), "{pattern}");
            assert!(PermissionRules::new(&[], &rule, false, Path::new("/")).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_call_is_denied_by_what_it_does_and_not_only_by_the_kind_that_it_names() {
        let deny = rules(&[], &["execute"]);
        let hidden = call(ToolKind::Other).raw_input(json!({ "command": "rm x" }));
        assert_eq!(deny.denying(&request(hidden)), Some("execute"));
        assert_eq!(deny.denying(&request(call(ToolKind::Other))), None);
    }

    #[test]
    fn action_without_a_request_needs_a_rule_for_all_of_its_kind() {
        let none = rules(&[], &[]);
        assert!(
            none.is_empty() && none.may(&ToolKind::Execute, true) && !none.may(&ToolKind::Execute, false)
        );
        assert!(rules(&["execute"], &[]).may(&ToolKind::Execute, false));
        assert!(!rules(&["execute:git"], &[]).may(&ToolKind::Execute, false));
        assert!(!rules(&["execute"], &["execute:rm"]).may(&ToolKind::Execute, true));
        assert!(!rules(&[], &["read"]).may_read() && rules(&[], &["read:.env"]).may_read());
    }

    #[test]
    fn relative_paths_begin_at_the_directory() {
        let cwd = Path::new("/repo");
        let read = |pattern| absolute(pattern, cwd).concat();
        assert_eq!(
            ["./a", "src/**", ".", "/x", "**/.env"].map(read),
            ["/repo/a", "/repo/src/**", "/repo", "/x", "**/.env"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn rule_covers_both_paths_of_a_linked_directory() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        let link = real.with_file_name("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let rule = ["edit:src/**".parse().unwrap()];
        let deny = PermissionRules::new(&[], &rule, false, &link).unwrap();
        let allow = PermissionRules::new(&rule, &[], false, &link).unwrap();
        for (folder, covered) in [(&link, true), (&real, true), (&real.with_file_name("other"), false)] {
            let request = request(on(ToolKind::Edit, folder.join("src/a").to_str().unwrap()));
            assert_eq!(deny.denying(&request).is_some(), covered, "{folder:?}");
            assert_eq!(allow.allowing(&request).is_some(), covered, "{folder:?}");
        }
    }
}
