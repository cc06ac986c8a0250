//! The members that may differ between a recording and a replay, as a table.

use crate::json_text::Step;

/// The kind of a volatile member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VolatileKind {
    /// An id: a recorded one has the same live value in the whole replay. Messages to send contain the live value.
    Identity,
    /// A token that is passed back: a recorded one may have another live value each time. Messages to send contain the newest.
    Token,
    /// A time or a version: any value of the same type.
    Any,
}

/// A member that may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct VolatileMember {
    /// A JSON Pointer within the message; `*` is any one step, `**` any number of steps.
    pub pointer: &'static str,
    /// The kind of its value.
    pub kind: VolatileKind,
}

const fn row(pointer: &'static str, kind: VolatileKind) -> VolatileMember {
    VolatileMember { pointer, kind }
}

/// The members that may differ in every replay. The ids of messages are mapped separately.
pub const VOLATILE_MEMBERS: &[VolatileMember] = &[
    row("/**/sessionId", VolatileKind::Identity),
    row("/**/terminalId", VolatileKind::Identity),
    row("/**/toolCallId", VolatileKind::Identity),
    row("/**/messageId", VolatileKind::Identity),
    row("/**/taskId", VolatileKind::Identity),
    row("/**/elicitationId", VolatileKind::Identity),
    row("/**/io.modelcontextprotocol~1subscriptionId", VolatileKind::Identity),
    row("/params/requestId", VolatileKind::Token),
    row("/**/progressToken", VolatileKind::Token),
    row("/**/cursor", VolatileKind::Token),
    row("/**/nextCursor", VolatileKind::Token),
    row("/**/requestState", VolatileKind::Token),
    row("/**/createdAt", VolatileKind::Any),
    row("/**/expiresAt", VolatileKind::Any),
    row("/**/lastModified", VolatileKind::Any),
    row("/**/lastUpdatedAt", VolatileKind::Any),
    row("/**/startedAt", VolatileKind::Any),
    row("/**/timestamp", VolatileKind::Any),
    row("/**/updatedAt", VolatileKind::Any),
    row("/**/traceparent", VolatileKind::Any),
    row("/**/tracestate", VolatileKind::Any),
    row("/params/clientInfo/version", VolatileKind::Any),
    row("/params/info/version", VolatileKind::Any),
    row("/result/agentInfo/version", VolatileKind::Any),
    row("/result/info/version", VolatileKind::Any),
    row("/result/serverInfo/version", VolatileKind::Any),
    row("/**/io.modelcontextprotocol~1clientInfo/version", VolatileKind::Any),
    row("/**/io.modelcontextprotocol~1serverInfo/version", VolatileKind::Any),
];

/// The table, split into steps, and the pointers that are ignored with all below them.
#[derive(Clone, Debug)]
pub(super) struct VolatileTable {
    members: Vec<(Vec<String>, VolatileKind)>,
    ignored: Vec<Vec<String>>,
}

impl VolatileTable {
    pub(super) fn new(ignored: &[String]) -> Self {
        Self {
            members: VOLATILE_MEMBERS.iter().map(|row| (steps(row.pointer), row.kind)).collect(),
            ignored: ignored.iter().map(|pointer| steps(pointer)).collect(),
        }
    }

    /// The kind of the member at a path, if it may differ.
    pub(super) fn kind(&self, path: &[Step]) -> Option<VolatileKind> {
        self.members.iter().find(|(pattern, _)| matches(pattern, path)).map(|(_, kind)| *kind)
    }

    /// Whether the value at a path is not compared at all.
    pub(super) fn is_ignored(&self, path: &[Step]) -> bool {
        self.ignored.iter().any(|pattern| matches(pattern, path))
    }
}

fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

fn matches(pattern: &[String], path: &[Step]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((step, rest)), _) if step == "**" => {
            // Only the last steps are compared: the names of volatile members are unique enough.
            path.len() >= rest.len() && !rest.iter().any(|step| step == "**") && {
                matches(rest, &path[path.len() - rest.len()..])
            }
        }
        (Some((step, pattern)), Some((first, path))) => {
            let is_same = match first {
                Step::Member(name) => name == step,
                Step::Index(index) => index.to_string() == *step,
            };
            (step == "*" || is_same) && matches(pattern, path)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pointer: &str) -> Vec<Step> {
        let step = |step: String| step.parse().map_or(Step::Member(step), Step::Index);
        steps(pointer).into_iter().map(step).collect()
    }

    #[test]
    fn pointers_with_stars_match_paths() {
        let table =
            VolatileTable::new(&["/params/*/text".into(), "/result/0/a~1b".into(), "/error/**/x".into()]);
        for (pointer, is_ignored) in [
            ("/params/3/text", true),
            ("/params/a/text", true),
            ("/params/text", false),
            ("/params/a/b/text", false),
            ("/result/0/a~1b", true),
            ("/error/x", true),
            ("/error/1/2/x", true),
            ("/error/x/1", false),
        ] {
            assert_eq!(table.is_ignored(&path(pointer)), is_ignored, "{pointer}");
        }
        assert_eq!(table.kind(&path("/params/update/sessionId")), Some(VolatileKind::Identity));
        assert_eq!(table.kind(&path("/sessionId")), Some(VolatileKind::Identity));
        assert_eq!(table.kind(&path("/params/clientInfo/version")), Some(VolatileKind::Any));
        assert_eq!(table.kind(&path("/params/clientInfo/name")), None);
    }
}
