use agentwire_acp_schema::v1::{RequestPermissionRequest, ToolKind};

use super::policy::PermissionPolicy;

/// A program's decision on the calls of a tool, or of all tools of a kind.
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
    /// Decides calls of the tool with this name. Calls without a tool name are not covered.
    pub fn tool(name: impl Into<String>, policy: PermissionPolicy) -> Self {
        Self { subject: Subject::Tool(name.into()), policy }
    }

    /// Decides calls of tools of this kind. Calls without a kind are not covered.
    pub fn kind(kind: ToolKind, policy: PermissionPolicy) -> Self {
        Self { subject: Subject::Kind(kind), policy }
    }

    /// Returns the policy, if the rule covers the request.
    pub(super) fn policy(&self, request: &RequestPermissionRequest) -> Option<PermissionPolicy> {
        let call = &request.tool_call;
        let meant = match &self.subject {
            Subject::Tool(name) => call.name.as_ref() == Some(name),
            Subject::Kind(kind) => call.kind.as_ref() == Some(kind),
        };
        meant.then_some(self.policy)
    }
}
