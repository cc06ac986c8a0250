//! The options of `chat` about permissions, the login at the agent, the agent's log, and the output.

use std::path::PathBuf;

use clap::Args;

use crate::chat::permissions::permission_rules::RuleText;
use crate::terminal::Format;

/// The permissions of the agent, its login, its log, and the form of the display.
#[derive(Debug, Args)]
pub(crate) struct ChatOptions {
    /// Grant permissions to read and to search
    #[arg(long)]
    pub(crate) approve_reads: bool,
    /// Grant the permissions that RULE covers; may be given again. RULE is a kind of tool (read, edit, delete, move, search,
    /// execute, think, fetch, switch_mode, other), or a kind with a path (edit:src/**) or a command (execute:git). A command is
    /// the first words, and `*` in it stands for any characters (execute:npm*, execute:git * --dry-run); a command that a shell
    /// would split or expand is never granted
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<RuleText>,
    /// Refuse the permissions that RULE covers, whatever else allows them; may be given again. A command is refused wherever it
    /// stands among others. A call that does not say its kind is refused by a rule for any kind, and one that does not say its
    /// path or command by every rule of its kind. What the agent does without asking is not confined
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<RuleText>,
    /// Log in at the agent by this method, given by its id or name, before the session opens
    #[arg(long, value_name = "METHOD")]
    pub(crate) auth: Option<String>,
    /// Append what the agent writes to stderr to this file, and do not show it
    #[arg(long, value_name = "FILE")]
    pub(crate) agent_log: Option<PathBuf>,
    /// The form of the output; --json is the same as json [default: `chat.format` of the configuration file, else text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Do not show the conversation of the session that is continued
    #[arg(long)]
    pub(crate) no_replay: bool,
}
