//! Rules that decide on tool calls by tool, kind, path or command.

use std::path::Path;

use agentwire_acp_schema::v1::{RequestPermissionRequest, ToolCallContent, ToolCallUpdate, ToolKind};

use super::command_line::{has_command, is_command};
use super::command_pattern::CommandPattern;
use super::policy::PermissionPolicy;
use crate::path_pattern::{CaseSensitivity, InvalidPattern, PathPattern};

/// A program's decision on the tool calls that meet all of its conditions: a tool, a kind, paths, a command.
///
/// ```
/// use agentwire_acp_schema::v1::ToolKind;
/// use agentwire_acp_toolkit::{InvalidPattern, PermissionPolicy, PermissionRule, Permissions};
///
/// # fn permissions() -> Result<Permissions, InvalidPattern> {
/// let permissions = Permissions::new(PermissionPolicy::Ask)
///     .rule(PermissionRule::reject().tool("deploy"))
///     .rule(PermissionRule::reject().path("**/.env")?)
///     .rule(PermissionRule::reject().kind(ToolKind::Edit).path("**/.git/**")?)
///     .rule(PermissionRule::allow().folder("/repo")?)
///     .rule(PermissionRule::ask().command("git push")?)
///     .rule(PermissionRule::allow().command("git")?)
///     .rule(PermissionRule::allow().kind(ToolKind::Read));
/// # Ok(permissions)
/// # }
/// # permissions().unwrap();
/// ```
///
/// The first rule that covers a call decides. A rule without conditions covers every call. A rule that allows covers a call
/// only if all of the call fits; a rule that rejects or asks covers it if any part does.
///
/// # Trust
///
/// The agent supplies the name, kind, paths and command, so a rule is only as trustworthy as the agent. A rule decides
/// permission requests alone. Without a request, an agent reads and writes by `fs/*` all that [`Files`](crate::Files) serves;
/// [`Workspaces::deny`](crate::Workspaces::deny) excludes files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a rule decides nothing before `Permissions::rule` has it"]
pub struct PermissionRule {
    policy: PermissionPolicy,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Tool(String),
    Kind(ToolKind),
    Path(PathPattern),
    Command(CommandPattern),
}

impl PermissionRule {
    /// Allows the calls that meet the conditions, once each.
    pub fn allow() -> Self {
        Self::new(PermissionPolicy::AllowAll)
    }

    /// Rejects the calls that meet the conditions, once each.
    pub fn reject() -> Self {
        Self::new(PermissionPolicy::RejectAll)
    }

    /// Asks the user about the calls that meet the conditions, whatever was decided before.
    pub fn ask() -> Self {
        Self::new(PermissionPolicy::Ask)
    }

    fn new(policy: PermissionPolicy) -> Self {
        Self { policy, conditions: Vec::new() }
    }

    fn and(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    fn allows(&self) -> bool {
        self.policy == PermissionPolicy::AllowAll
    }

    fn letters(&self) -> CaseSensitivity {
        if self.allows() { CaseSensitivity::Sensitive } else { CaseSensitivity::Insensitive }
    }

    /// Only for calls of the tool with this name. Calls without a tool name are not covered.
    pub fn tool(self, name: impl Into<String>) -> Self {
        self.and(Condition::Tool(name.into()))
    }

    /// Only for calls of tools of this kind. Calls without a kind are not covered.
    pub fn kind(self, kind: ToolKind) -> Self {
        self.and(Condition::Kind(kind))
    }

    /// Only for calls with these paths, in their locations and diffs. Calls without any are not covered.
    ///
    /// In a pattern `**` is any number of folders, `*` any part of a name, and `?` one character of a name: `/repo/*.toml`,
    /// `**/.env`. `/repo/**` is the folder and all that is in it; a call on a folder above is not covered. The pattern is
    /// compared with the whole path. The `.` and `..` of a path are resolved by its text; links are not followed.
    ///
    /// A rule that allows covers a call only if all of its paths match, with case. A rule that rejects or asks covers a call if
    /// one of its paths matches, without case as on some file systems, or is not absolute.
    ///
    /// # Errors
    ///
    /// When the pattern can match no absolute path, or is too long.
    pub fn path(self, pattern: &str) -> Result<Self, InvalidPattern> {
        let pattern = PathPattern::new(pattern, self.letters())?;
        Ok(self.and(Condition::Path(pattern)))
    }

    /// Only for calls with paths in this folder, or with the folder itself: as [`path`](Self::path), but the text is not a pattern.
    ///
    /// # Errors
    ///
    /// When the path is not absolute, or not UTF-8.
    pub fn folder(self, folder: impl AsRef<Path>) -> Result<Self, InvalidPattern> {
        let pattern = PathPattern::folder(folder.as_ref(), self.letters())?;
        Ok(self.and(Condition::Path(pattern)))
    }

    /// Only for calls of this command. The input of such a call has a member `command`, a text or a list of words, and
    /// may have more words in a member `args`. The pattern is the beginning of the command, word by word: `git` covers
    /// `git status`, and not `github`. `*` outside of quotes stands for any characters, of one word or of several: `npm*`
    /// covers `npm run x` and `npm-check`, `git * --force` every such command with this option. A last word `*` stands
    /// for no words too.
    ///
    /// A rule that allows covers a call of the kind [`Execute`](ToolKind::Execute) that is this single command. It never covers
    /// a text with an operator, an expansion or an escape of a shell, even where `*` would match. Nor does it cover a list with
    /// an operator in a word, which an agent may join for a shell, or an input with a member `env`.
    ///
    /// Arguments that run another program, write a file or load settings are covered only if the rule names them: `git`
    /// covers `git status`, and not `git -c alias.x=… x` or `git diff --output=…`; `git -c` covers the first. A program
    /// that runs its operand, such as `env`, `xargs` or `sudo`, is covered only with that operand: `env rm`. The known
    /// programs are in tables.
    ///
    /// A rule that rejects or asks covers a call of any kind that contains the words in a row, after any operator or word. Its
    /// `*` matches operators too. It is not a security boundary: a command can be written in too many ways.
    ///
    /// # Errors
    ///
    /// When the pattern has no word, or a shell would split or expand it, other than by `*`.
    pub fn command(self, pattern: &str) -> Result<Self, InvalidPattern> {
        let invalid = |why| InvalidPattern { pattern: pattern.to_owned(), why };
        let pattern = CommandPattern::new(pattern).ok_or_else(|| {
            invalid(
                "a command has no operators, expansions and escapes; `*` alone stands for other characters",
            )
        })?;
        if pattern.is_empty() {
            return Err(invalid("a command has a word"));
        }
        Ok(self.and(Condition::Command(pattern)))
    }

    /// Returns the policy, if the rule covers the request.
    pub(super) fn policy(&self, request: &RequestPermissionRequest) -> Option<PermissionPolicy> {
        let (call, allows) = (&request.tool_call, self.allows());
        let covered = self.conditions.iter().all(|condition| condition.covers(call, allows));
        covered.then_some(self.policy)
    }
}

impl Condition {
    /// Returns whether the call meets the condition: all of the call if the rule allows, or else any part.
    fn covers(&self, call: &ToolCallUpdate, allows: bool) -> bool {
        match self {
            Self::Tool(name) => call.name.as_ref() == Some(name),
            Self::Kind(kind) => call.kind.as_ref() == Some(kind),
            Self::Path(pattern) if allows => all_paths_match(call, pattern),
            Self::Path(pattern) => paths(call).any(|path| pattern.matches(path) != Some(false)),
            Self::Command(pattern) if allows => {
                call.kind == Some(ToolKind::Execute) && is_command(call, pattern)
            }
            Self::Command(pattern) => has_command(call, pattern),
        }
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
