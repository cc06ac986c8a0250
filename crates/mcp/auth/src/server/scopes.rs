//! The scopes that an operation needs, and the check that a token has them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use agentwire_mcp_wire::method;
use agentwire_transport_http::server::Operation;

type OfOperation = dyn Fn(&Operation<'_>) -> Vec<String> + Send + Sync;

/// The scopes of the endpoint and of its operations.
#[derive(Clone, Default)]
pub(crate) struct ScopePolicy {
    endpoint: Vec<String>,
    tools: HashMap<String, Vec<String>>,
    methods: HashMap<String, Vec<String>>,
    of_operation: Option<Arc<OfOperation>>,
    /// The narrower scopes that a broader one implies.
    implied: HashMap<String, Vec<String>>,
}

impl ScopePolicy {
    pub(crate) fn set_endpoint(&mut self, scopes: Vec<String>) {
        self.endpoint = scopes;
    }

    pub(crate) fn set_tool(&mut self, name: String, scopes: Vec<String>) {
        self.tools.insert(name, scopes);
    }

    pub(crate) fn set_method(&mut self, name: String, scopes: Vec<String>) {
        self.methods.insert(name, scopes);
    }

    pub(crate) fn set_function(&mut self, function: Arc<OfOperation>) {
        self.of_operation = Some(function);
    }

    pub(crate) fn add_implied(&mut self, broad: String, narrow: Vec<String>) {
        self.implied.entry(broad).or_default().extend(narrow);
    }

    /// All scopes of these operations, those of the endpoint first.
    pub(crate) fn needed(&self, operations: &[Operation<'_>]) -> Vec<String> {
        let mut needed = self.endpoint.clone();
        for operation in operations {
            needed.extend(self.methods.get(operation.method).into_iter().flatten().cloned());
            if operation.method == method::CALL_TOOL
                && let Some(name) = &operation.name
            {
                needed.extend(self.tools.get(&**name).into_iter().flatten().cloned());
            }
            if let Some(function) = &self.of_operation {
                needed.extend(function(operation));
            }
        }
        let mut seen = HashSet::new();
        needed.retain(|scope| seen.insert(scope.clone()));
        needed
    }

    /// Whether a token with the scopes `granted` has all that are needed, by itself or by what they imply.
    pub(crate) fn covers(&self, granted: &[String], needed: &[String]) -> bool {
        let mut held: HashSet<&str> = granted.iter().map(String::as_str).collect();
        let mut open: Vec<&str> = held.iter().copied().collect();
        while let Some(scope) = open.pop() {
            for narrow in self.implied.get(scope).into_iter().flatten() {
                if held.insert(narrow) {
                    open.push(narrow);
                }
            }
        }
        needed.iter().all(|scope| held.contains(scope.as_str()))
    }

    /// Every scope that is configured, for the metadata.
    pub(crate) fn known(&self) -> Vec<String> {
        let mut listed: Vec<_> =
            self.tools.values().chain(self.methods.values()).flatten().cloned().collect();
        listed.sort_unstable();
        let mut seen = HashSet::new();
        let all = self.endpoint.iter().cloned().chain(listed);
        all.filter(|scope| seen.insert(scope.clone())).collect()
    }
}

/// How long the scopes of a challenge may be together, in bytes. A function may name them after what a request names, and
/// proxies take no long header.
const MAX_CHALLENGED: usize = 4096;

/// The scopes as one text, for a challenge, as far as there is room for them. `offline_access` is about refresh tokens, and no matter of a resource.
pub(crate) fn join_scopes(scopes: &[String]) -> String {
    let mut text = String::new();
    for scope in scopes.iter().filter(|scope| is_scope(scope) && *scope != "offline_access") {
        if text.len() + scope.len() >= MAX_CHALLENGED {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(scope);
    }
    text
}

/// The characters of RFC 6749, section 3.3, which need no escape in a header.
fn is_scope(text: &str) -> bool {
    let is_char = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !text.is_empty() && text.bytes().all(is_char)
}

impl fmt::Debug for ScopePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopePolicy")
            .field("endpoint", &self.endpoint)
            .field("tools", &self.tools)
            .field("methods", &self.methods)
            .field("implied", &self.implied)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scopes: &[&str]) -> Vec<String> {
        scopes.iter().map(|&scope| scope.to_owned()).collect()
    }

    #[test]
    fn all_scopes_of_a_batch_are_needed_at_once() {
        let mut policy = ScopePolicy::default();
        policy.set_endpoint(texts(&["mcp"]));
        policy.set_tool("write".into(), texts(&["files:write", "mcp"]));
        policy.set_method("tools/call".into(), texts(&["tools"]));
        policy.set_function(Arc::new(|operation| match &operation.name {
            Some(uri) if uri.starts_with("file:") => texts(&["files:read"]),
            _ => Vec::new(),
        }));
        let call = Operation::new("tools/call", Some("write"));
        let read = Operation::new("resources/read", Some("file:///x"));
        assert_eq!(policy.needed(&[]), ["mcp"]);
        assert_eq!(policy.needed(std::slice::from_ref(&call)), ["mcp", "tools", "files:write"]);
        assert_eq!(policy.needed(&[call, read]), ["mcp", "tools", "files:write", "files:read"]);
        // The name of a prompt is not a tool's.
        assert_eq!(policy.needed(&[Operation::new("prompts/get", Some("write"))]), ["mcp"]);
        assert_eq!(policy.known(), ["mcp", "files:write", "tools"]);
    }

    #[test]
    fn a_broader_scope_implies_narrower_ones() {
        let mut policy = ScopePolicy::default();
        policy.add_implied("admin".into(), texts(&["write"]));
        policy.add_implied("write".into(), texts(&["read", "admin"]));
        assert!(policy.covers(&texts(&["admin"]), &texts(&["read", "write"])));
        assert!(!policy.covers(&texts(&["read"]), &texts(&["write"])));
        assert!(policy.covers(&[], &[]) && !policy.covers(&[], &texts(&["read"])));
    }

    #[test]
    fn only_scopes_of_the_resource_stand_in_a_challenge() {
        assert_eq!(join_scopes(&texts(&["a", "offline_access", "b\"", "c d", "", "e"])), "a e");
    }
}
