use std::path::Path;

use agentwire_acp_schema::v1::{RequestPermissionRequest, ToolCallContent, ToolCallUpdate, ToolKind};

use super::command_line::{has_command, is_command, simple_command};
use super::invalid_rule::InvalidRule;
use super::path_pattern::PathPattern;
use super::policy::PermissionPolicy;

/// A program's decision on some tool calls: those of a tool, of a kind, on certain paths, or with a certain command.
///
/// The name, kind, paths and command are the agent's word: a rule is as trustworthy as the agent that it is for. A rule that
/// allows covers a call only if all of the call fits; a rule that rejects or asks covers it if any part does.
///
/// ```
/// use agentwire_acp_schema::v1::ToolKind;
/// use agentwire_acp_toolkit::{InvalidRule, PermissionPolicy, PermissionRule, Permissions};
///
/// # fn permissions() -> Result<Permissions, InvalidRule> {
/// let permissions = Permissions::new(PermissionPolicy::Ask)
///     .rule(PermissionRule::tool("deploy", PermissionPolicy::RejectAll))
///     .rule(PermissionRule::path("**/.env", PermissionPolicy::RejectAll)?)
///     .rule(PermissionRule::path("/repo/**", PermissionPolicy::AllowAll)?)
///     .rule(PermissionRule::command("git push", PermissionPolicy::Ask)?)
///     .rule(PermissionRule::command("git", PermissionPolicy::AllowAll)?)
///     .rule(PermissionRule::kind(ToolKind::Read, PermissionPolicy::AllowAll));
/// # Ok(permissions)
/// # }
/// # permissions().unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRule {
    subject: Subject,
    policy: PermissionPolicy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    Tool(String),
    Kind(ToolKind),
    Path(PathPattern),
    Command(Vec<String>),
}

impl PermissionRule {
    /// Decides calls of the tool with this name. Calls without a tool name are not covered.
    pub fn tool(name: impl Into<String>, policy: PermissionPolicy) -> Self {
        Self { subject: Subject::Tool(name.into()), policy }
    }

    /// Decides calls of tools of this kind. Calls without a kind are not covered.
    pub fn kind(kind: ToolKind, policy: PermissionPolicy) -> Self {
        Self { subject: Subject::Kind(kind), policy }
    }

    /// Decides calls by the paths of their locations and diffs. Calls without any are not covered.
    ///
    /// In a pattern `**` is any number of folders, `*` any part of a name, and `?` one character of a name: `/repo/**`,
    /// `/repo/*.toml`, `**/.env`. It is compared with the whole path, and letters as they are, also on file systems that do
    /// not tell `a` from `A`. The `.` and `..` of a path are resolved by its text; links are not followed.
    ///
    /// A rule that allows covers a call whose paths all match. A rule that rejects or asks covers a call with one that
    /// matches, or with one that is not absolute.
    ///
    /// # Errors
    ///
    /// When the pattern can match no absolute path, or is too long.
    pub fn path(pattern: &str, policy: PermissionPolicy) -> Result<Self, InvalidRule> {
        Ok(Self { subject: Subject::Path(PathPattern::new(pattern)?), policy })
    }

    /// Decides calls by the command in their input: its member `command`, a text or a list of words, with the words of a
    /// member `args`. `git` covers `git status`, and not `github`.
    ///
    /// A rule that allows covers a call of the kind [`Execute`](ToolKind::Execute) that is this one command. A text with an
    /// operator, an expansion or an escape of a shell is never covered, and neither is an input with a member `env`. A rule
    /// that rejects or asks covers a call of any kind that has the words in a row, after any operator and behind any other
    /// word. It is a help and no boundary: a command can be written in too many ways.
    ///
    /// # Errors
    ///
    /// When the prefix has no word, or is no simple command itself.
    pub fn command(prefix: &str, policy: PermissionPolicy) -> Result<Self, InvalidRule> {
        let invalid = |why| InvalidRule { rule: prefix.to_owned(), why };
        let words = simple_command(prefix)
            .ok_or_else(|| invalid("the words of a command have no operators, expansions and escapes"))?;
        if words.is_empty() {
            return Err(invalid("a command has a word"));
        }
        Ok(Self { subject: Subject::Command(words), policy })
    }

    /// Returns the policy, if the rule covers the request.
    pub(super) fn policy(&self, request: &RequestPermissionRequest) -> Option<PermissionPolicy> {
        let call = &request.tool_call;
        let allows = self.policy == PermissionPolicy::AllowAll;
        let covered = match &self.subject {
            Subject::Tool(name) => call.name.as_ref() == Some(name),
            Subject::Kind(kind) => call.kind.as_ref() == Some(kind),
            Subject::Path(pattern) if allows => all_paths_match(call, pattern),
            Subject::Path(pattern) => paths(call).any(|path| pattern.matches(path) != Some(false)),
            Subject::Command(words) if allows => {
                call.kind == Some(ToolKind::Execute) && is_command(call, words)
            }
            Subject::Command(words) => has_command(call, words),
        };
        covered.then_some(self.policy)
    }
}

fn all_paths_match(call: &ToolCallUpdate, pattern: &PathPattern) -> bool {
    let mut paths = paths(call).map(|path| pattern.matches(path) == Some(true)).peekable();
    paths.peek().is_some() && paths.all(|matches| matches)
}

/// Returns the paths of the call's locations and diffs.
fn paths(call: &ToolCallUpdate) -> impl Iterator<Item = &Path> {
    let locations = call.locations.iter().flatten().map(|location| location.path.as_path());
    let diffs = call.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(diff.path.as_path()),
        _ => None,
    });
    locations.chain(diffs)
}
