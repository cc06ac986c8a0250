//! Names the agent or server of a command in errors.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agentwire_mcp_hub::Target;
use agentwire_sync::Mutex;
use agentwire_transport_http::client::shown_url;
use agentwire_transport_stdio::Command;

use crate::output::text::one_line;

/// The kind of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An ACP agent.
    Agent,
    /// An MCP server.
    Server,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Server => "server",
        })
    }
}

/// The agent or server of a command. Clones share the first text of its stdout.
#[derive(Clone, Debug)]
pub(crate) struct OtherSide {
    role: Role,
    place: SidePlace,
    first_text: Arc<Mutex<Option<String>>>,
    is_stderr_shown: bool,
    has_authorization: bool,
}

/// The URL or the name of the program of a side.
#[derive(Clone, Debug)]
pub(crate) enum SidePlace {
    /// At a URL, without its user, its query and its fragment: these may be secret.
    Url(String),
    /// A program, with the package that a launcher starts. Other arguments may be secret.
    Command(String),
}

impl OtherSide {
    /// A program.
    pub(crate) fn program(role: Role, command: &Command) -> Self {
        Self::new(role, SidePlace::Command(command_name(command)))
    }

    /// The server of a target.
    pub(crate) fn server(target: &Target) -> Self {
        match target {
            Target::Stdio(command) => Self::program(Role::Server, command),
            Target::Http(target) => {
                Self::new(Role::Server, SidePlace::Url(one_line(&shown_url(target.url()))))
            }
            _ => Self::new(Role::Server, SidePlace::Command("the server".to_owned())),
        }
    }

    fn new(role: Role, place: SidePlace) -> Self {
        Self { role, place, first_text: Arc::default(), is_stderr_shown: false, has_authorization: false }
    }

    /// Leaves its stderr out of errors, because it is shown already.
    pub(crate) fn stderr_is_shown(mut self) -> Self {
        self.is_stderr_shown = true;
        self
    }

    /// Sets whether requests have an `Authorization` header of the command line.
    pub(crate) fn has_authorization(mut self, has_authorization: bool) -> Self {
        self.has_authorization = has_authorization;
        self
    }

    /// Keeps the first line of its stdout that is not JSON-RPC.
    pub(crate) fn wrote_text(&self, line: &str) {
        self.first_text.lock().get_or_insert_with(|| one_line(line));
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    pub(super) fn place(&self) -> &SidePlace {
        &self.place
    }

    /// The first line of its stdout that is not JSON-RPC.
    pub(super) fn first_text(&self) -> Option<String> {
        self.first_text.lock().clone()
    }

    pub(super) fn shows_stderr(&self) -> bool {
        self.is_stderr_shown
    }

    pub(super) fn sends_authorization(&self) -> bool {
        self.has_authorization
    }
}

impl fmt::Display for OtherSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            SidePlace::Url(url) => f.write_str(url),
            SidePlace::Command(name) => write!(f, "`{name}`"),
        }
    }
}

/// Programs that start a package or a script of their arguments.
const LAUNCHERS: &[&str] = &[
    "npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "node", "deno", "python",
    "python3", "docker", "podman", "sh", "bash",
];

/// Whether a program only launches an agent or server.
pub(crate) fn is_launcher(command: &Command) -> bool {
    let name = Path::new(command.program()).file_stem().and_then(|name| name.to_str());
    name.is_some_and(|name| LAUNCHERS.contains(&name))
}

/// The longest name of a program that is shown, in bytes.
const NAME_LIMIT: usize = 200;

fn command_name(command: &Command) -> String {
    let program = program_name(&command.program().to_string_lossy());
    // The word after any other option may be its value, and secret.
    let mut words = command.arguments().iter().map(|word| word.to_str().unwrap_or("-"));
    let package = words.find(|word| !WORDS_BEFORE.contains(word));
    let is_name =
        |word: &&str| !word.starts_with('-') && !word.contains(['=', ' ', '\n']) && word.len() <= NAME_LIMIT;
    match package.filter(is_name).filter(|_| is_launcher(command)) {
        Some(package) => format!("{program} … {package}"),
        None => program,
    }
}

/// The words that may stand before the package in the command line of a launcher.
const WORDS_BEFORE: &[&str] =
    &["run", "exec", "tool", "x", "dlx", "-y", "--yes", "-q", "--quiet", "-i", "--rm", "-u", "-m", "--"];

/// The name of a program. An assignment as in a shell loses its value.
pub(super) fn program_name(program: &str) -> String {
    match program.split_once('=') {
        Some((variable, _)) => format!("{}=…", one_line(variable)),
        None => one_line(program),
    }
}

/// Whether a command line may have a secret: a word with a value, an option followed by a word, or a URL with more than a host
/// and a path.
pub(crate) fn may_have_secret(command: &Command) -> bool {
    let words = std::iter::once(command.program()).chain(command.arguments().iter().map(|word| &**word));
    let mut is_value = false;
    for word in words {
        let Some(word) = word.to_str() else { return true };
        let is_option = word.starts_with('-') && !WORDS_BEFORE.contains(&word);
        let is_joined = is_option && !word.starts_with("--") && word.len() > 2;
        let is_url = word.contains("://") && shown_url(word) != word;
        if word.contains('=') || is_joined || is_url || (is_value && !word.starts_with('-')) {
            return true;
        }
        is_value = is_option;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_command_line_are_left_out() {
        let name = |line| OtherSide::server(&Target::parse(line).unwrap()).to_string();
        assert_eq!(name("my-server --token abc"), "`my-server`");
        assert_eq!(name("API_KEY=abc my-server"), "`API_KEY=…`");
        assert_eq!(name("npx -y @scope/server --key=abc"), "`npx … @scope/server`");
        assert_eq!(name("uv run server.py --key abc"), "`uv … server.py`");
        assert_eq!(name("uv run --token abc server.py"), "`uv`");
        assert_eq!(name("npx KEY=abc"), "`npx`");
        assert_eq!(name("https://ann:abc@example.com:1/mcp?key=abc"), "https://example.com:1/mcp");
    }

    #[test]
    fn a_command_line_with_a_value_may_have_a_secret() {
        let rows = [
            ("agent", false),
            ("opencode acp", false),
            ("npx -y @scope/agent --acp", false),
            ("npx -y agent --acp --verbose", false),
            ("agent --api-key abc", true),
            ("agent --api-key=abc", true),
            ("agent -k abc", true),
            ("agent -kabc", true),
            ("env TOKEN=x agent", true),
            ("TOKEN=x agent", true),
            ("agent https://ann:abc@example.com", true),
            ("agent https://example.com/?key", true),
            ("agent https://example.com/a", false),
        ];
        for (line, expected) in rows {
            assert_eq!(may_have_secret(&Command::parse(line).unwrap()), expected, "{line}");
        }
    }
}
