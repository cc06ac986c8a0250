use agentwire_acp_schema::v1::{RequestPermissionRequest, ToolKind};

use super::PermissionPolicy;

/// What a program decides beforehand about the calls of a tool, or of all tools of a kind.
///
/// Names and kinds are the agent's word: a rule is as trustworthy as the agent that it is for.
///
/// ```
/// use agentwire_acp_schema::v1::ToolKind;
/// use agentwire_acp_toolkit::{PermissionPolicy, PermissionRule, Permissions};
///
/// let permissions = Permissions::new(PermissionPolicy::Ask)
///     .rule(PermissionRule::tool("deploy", PermissionPolicy::RejectAll))
///     .rule(PermissionRule::kind(ToolKind::Read, PermissionPolicy::AllowAll));
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
}

impl PermissionRule {
    /// About the tool of this name. A call whose tool has no name is not meant.
    pub fn tool(name: impl Into<String>, policy: PermissionPolicy) -> Self {
        Self { subject: Subject::Tool(name.into()), policy }
    }

    /// About tools of this kind. A call of which no kind is told is not meant.
    pub fn kind(kind: ToolKind, policy: PermissionPolicy) -> Self {
        Self { subject: Subject::Kind(kind), policy }
    }

    /// What decides about the request, if the rule is about it.
    pub(super) fn policy(&self, request: &RequestPermissionRequest) -> Option<PermissionPolicy> {
        let call = &request.tool_call;
        let meant = match &self.subject {
            Subject::Tool(name) => call.name.as_ref() == Some(name),
            Subject::Kind(kind) => call.kind.as_ref() == Some(kind),
        };
        meant.then_some(self.policy)
    }
}
