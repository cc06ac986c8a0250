//! Builds the command that continues a conversation later.

use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::Printable;

use crate::arguments::{Chat, Protocol};
use crate::command_line;
use crate::failure::may_have_secret;

/// The options of the command line that a later command needs as well.
#[derive(Debug, Default)]
pub(in crate::chat) struct Continuation {
    agent: Option<String>,
    protocol: Option<&'static str>,
    config: Option<PathBuf>,
    has_servers: bool,
    has_rules: bool,
}

impl Continuation {
    pub(in crate::chat) fn of(arguments: &Chat) -> Self {
        let protocol = match arguments.protocol {
            Protocol::One => None,
            Protocol::Two => Some("2"),
            Protocol::Auto => Some("auto"),
        };
        let has_servers = !arguments.mcp.is_empty() || !arguments.mcp_config.is_empty();
        let rules = &arguments.chat_options;
        let has_rules = rules.approve_reads || !rules.allow.is_empty() || !rules.deny.is_empty();
        let config = arguments.config.config.clone();
        Self { agent: arguments.agent.clone(), protocol, config, has_servers, has_rules }
    }

    /// The sentence about how to continue a session. `None` if its id cannot be typed.
    pub(in crate::chat) fn sentence(&self, session: &SessionId, cwd: &Path) -> Option<String> {
        // The sessions of our own agent end with it, unless its command line names a store.
        let agent = self.agent.as_deref()?;
        let cwd = cwd.to_str()?;
        let is_typed = |text: &str| Printable::one_line(text).is_plain();
        let config = match &self.config {
            Some(config) => Some(config.to_str().filter(|config| is_typed(config))?),
            None => None,
        };
        if !is_typed(session) || !is_typed(cwd) || !is_typed(agent) {
            return None;
        }
        let (mut command, mut notes) = ("agentwire chat".to_owned(), Vec::new());
        if command_line::parse(agent).is_ok_and(|command| !may_have_secret(&command)) {
            command += &format!(" --agent {}", shell_words::quote(agent));
        } else {
            command += " --agent ...";
            notes.push("... is the --agent of this command, which may have a secret");
        }
        if self.has_servers {
            notes.push("with its MCP servers again");
        }
        if self.has_rules {
            notes.push("with its rules on permissions again");
        }
        // The file may name the agent.
        if let Some(config) = config {
            command += &format!(" --config {}", shell_words::quote(config));
        }
        if let Some(protocol) = self.protocol {
            command += &format!(" --protocol {protocol}");
        }
        command += &format!(" --cwd {}", shell_words::quote(cwd));
        // The option and its value are one word: an id may begin with a dash.
        command += &format!(" --session={}", shell_words::quote(session));
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        Some(format!("continue with: {command}{notes}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_options_that_it_needs_and_no_secrets() {
        let sentence = |agent: Option<&str>, protocol, has_servers, id: &str| {
            let agent = agent.map(str::to_owned);
            let continuation = Continuation { agent, protocol, has_servers, ..Continuation::default() };
            continuation.sentence(&id.into(), Path::new("/a b"))
        };
        assert_eq!(sentence(None, None, false, "s1"), None);
        let plain = sentence(Some("agent"), None, false, "s1");
        let text = "continue with: agentwire chat --agent agent --cwd '/a b' --session=s1";
        assert_eq!(plain.as_deref(), Some(text));
        let other = sentence(Some("npx -y agent"), Some("2"), true, "-x y");
        let text = "continue with: agentwire chat --agent 'npx -y agent' --protocol 2 --cwd '/a b' --session='-x y' (with its MCP servers again)";
        assert_eq!(other.as_deref(), Some(text));
        let secret = sentence(Some("env API_KEY=1 agent"), None, false, "s1").unwrap();
        let text = "continue with: agentwire chat --agent ... --cwd '/a b' --session=s1 (... is the --agent of this command, which may have a secret)";
        assert_eq!(secret, text);
        let secret = sentence(Some("agent --api-key abc"), None, false, "s1");
        assert_eq!(secret.as_deref(), Some(text));
        assert_eq!(sentence(Some("agent"), None, false, "s\u{1b}[2J"), None);
        let (agent, config) = (Some("agent".to_owned()), Some("my config.toml".into()));
        let more = Continuation { agent, config, has_rules: true, ..Continuation::default() };
        let text = "continue with: agentwire chat --agent agent --config 'my config.toml' --cwd / --session=s1 (with its rules on permissions again)";
        assert_eq!(more.sentence(&"s1".into(), Path::new("/")).as_deref(), Some(text));
    }
}
