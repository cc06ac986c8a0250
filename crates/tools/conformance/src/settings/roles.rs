//! The roles that a profile can give to what a subject offers, for each kind of subject.

use crate::subject::SubjectKind;

/// The roles of a kind. For clients they are the steps as well, each of which may have a command.
pub(crate) const fn roles(kind: SubjectKind) -> &'static [&'static str] {
    match kind {
        SubjectKind::AcpAgent => ACP_AGENT,
        SubjectKind::AcpClient => ACP_CLIENT,
        SubjectKind::AcpProxy | SubjectKind::AcpConductor => &[],
        SubjectKind::McpServer => MCP_SERVER,
        SubjectKind::McpClient => MCP_CLIENT,
    }
}

const ACP_AGENT: &[&str] = &[
    "ask",
    "change",
    "chunks",
    "compaction",
    "fail",
    "login",
    "logout",
    "mcp",
    "notice",
    "page_size",
    "permission",
    "plan",
    "read",
    "roots",
    "say",
    "slow",
    "terminal",
    "tool",
    "usage",
    "visit",
    "write",
];

const ACP_CLIENT: &[&str] = &[
    "authenticate",
    "cancel",
    "cancel_terminal",
    "cancel_tool_call",
    "close",
    "close_session",
    "delete_session",
    "driver",
    "hold",
    "initialize",
    "list_sessions",
    "load_session",
    "logout",
    "mcp_over_acp",
    "new_session",
    "prompt",
    "resume_session",
    "set_config",
    "set_mode",
    "state",
];

const MCP_SERVER: &[&str] = &[
    "asks",
    "asks_with_state",
    "changes_prompts",
    "changes_tools",
    "echo",
    "elicitation",
    "end_subscriptions",
    "flood",
    "foreign_dialect",
    "impatient",
    "lists_roots",
    "logs",
    "long_task",
    "mark",
    "marks",
    "outlasts_its_stream",
    "pair",
    "pings",
    "progress",
    "progress_task",
    "remote_ref",
    "roots",
    "samples",
    "sampling",
    "slow",
    "task",
    "task_only",
    "task_that_asks",
    "task_that_breaks",
    "task_that_fails",
    "updates",
    "updates_late",
];

const MCP_CLIENT: &[&str] = &[
    "call_tool",
    "cancel",
    "changes",
    "close",
    "complete",
    "driver",
    "get_prompt",
    "list_prompts",
    "list_resources",
    "list_tasks",
    "list_templates",
    "list_tools",
    "listen",
    "ping",
    "read_resource",
    "set_level",
    "subscribe",
    "warnings",
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::settings::profile::Profile;

    /// The source text of the checks of a kind, with that of what drives clients.
    fn sources(kind: SubjectKind) -> String {
        fn read(path: &Path, text: &mut String) {
            if path.is_dir() {
                fs::read_dir(path).unwrap().for_each(|entry| read(&entry.unwrap().path(), text));
            } else {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut text = String::new();
        read(&root.join(kind.as_str().replace('-', "_")), &mut text);
        if kind.role() == crate::Role::Client {
            read(&root.join("subject/driver.rs"), &mut text);
        }
        text
    }

    #[test]
    fn the_checks_use_each_role_and_no_other() {
        const CALLS: &[&str] =
            &["role", ".tool", ".text", "has_step", ".begin", ".begin_silently", "driver.start"];
        for kind in SubjectKind::ALL {
            let (known, text) = (roles(*kind), sources(*kind));
            for role in known {
                assert!(text.contains(&format!("\"{role}\"")), "no check of an {kind} uses {role}");
            }
            for call in CALLS {
                for rest in text.split(&format!("{call}(\"")).skip(1) {
                    let role = rest.split('"').next().unwrap();
                    assert!(known.contains(&role), "{call} of an {kind} uses {role}, which is not a role");
                }
            }
        }
    }

    #[test]
    fn the_guide_has_each_role_and_no_other() {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/conformance/profiles.md");
        let guide = fs::read_to_string(guide).unwrap();
        for kind in SubjectKind::ALL.iter().filter(|kind| !roles(**kind).is_empty()) {
            let blocks = guide.split("```toml\n").filter(|block| block.starts_with(&format!("[{kind}]")));
            let block = blocks.last().unwrap().split("```").next().unwrap();
            Profile::parse(block).unwrap();
            let words: Vec<&str> =
                block.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
            for role in roles(*kind) {
                assert!(words.contains(role), "the guide does not explain {role} of an {kind}");
            }
        }
    }
}
