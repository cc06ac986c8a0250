//! Our ACP client with the agents that people use, without a key and without a network.
//!
//! What each of them does is data in [`table`], so that a new version that does something else is seen.

mod opening;
mod table;
mod turns;

use std::fs;

use anyhow::{Context as _, Result};

pub(super) use self::opening::PAIRS as OPENINGS;
pub(super) use self::turns::PAIRS as TURNS;
use super::scratch::Scratch;

/// The words with which `agentwire chat` asks for version 2, and takes version 1 where that is the answer.
const VERSION_2: &[&str] = &["--protocol", "auto"];

/// Where nobody listens: the proxy of agents that have no model of ours.
const NOWHERE: &str = "http://127.0.0.1:9";

/// An agent that people use.
///
/// In its texts `{node}` stands for the program that runs JavaScript, `{agents}` for the folder of the packages,
/// `{system}` for this system as packages call it, `{project}` for the session's folder and `{url}` for our model.
struct Product {
    /// What it calls itself.
    name: &'static str,
    command: &'static [&'static str],
    /// Variables as `NAME=VALUE`: they switch off what has nothing to do with us, such as updates and telemetry.
    environment: &'static [&'static str],
    /// What comes of `session/new` without a key.
    session: Session,
    /// How it is brought to our model; none where only an account of its maker's gives it one.
    model: Option<Model>,
}

/// What comes of `session/new`.
enum Session {
    /// It opens.
    Opens,
    /// It is refused with this error, and `initialize` named these ways to log in.
    Refused { code: i64, methods: &'static [&'static str] },
}

/// An agent on our model.
struct Model {
    /// More words for its command line.
    arguments: &'static [&'static str],
    environment: &'static [&'static str],
    /// Files in its home: their paths and contents.
    settings: &'static [(&'static str, &'static str)],
    /// A tool and its arguments, which writes `hello from the model` into `note.txt`.
    write: &'static str,
    /// Whether it asks before it writes.
    asks: bool,
    /// Whether it lets the client read and write.
    through_client: bool,
    /// What is in `note.txt` before; none where there is no such file.
    before: Option<&'static str>,
}

impl Product {
    /// Its command line, on the model at `url` where there is one. Its settings are written on the way.
    fn command(&self, scratch: &Scratch<'_>, url: Option<&str>) -> Result<Vec<String>> {
        let fill = |text: &str| fill(text, scratch, url.unwrap_or(NOWHERE));
        let model = self.model.as_ref().filter(|_| url.is_some());
        for (name, content) in model.map_or(&[][..], |model| model.settings) {
            let path = scratch.home().join(name);
            fs::create_dir_all(path.parent().context("a file in the home")?)?;
            fs::write(path, fill(content))?;
        }
        let mut words = vec!["env".to_owned(), scratch.peers().node_path()];
        words.extend(AWAY.iter().chain(self.environment).map(|variable| fill(variable)));
        words.extend(model.into_iter().flat_map(|model| model.environment).map(|variable| fill(variable)));
        words.extend(self.command.iter().map(|word| fill(word)));
        words.extend(model.into_iter().flat_map(|model| model.arguments).map(|word| fill(word)));
        Ok(words)
    }
}

/// Keeps agents from reaching anybody but this machine: their requests go to a proxy that refuses them.
const AWAY: &[&str] = &[
    "HTTP_PROXY={url}",
    "HTTPS_PROXY={url}",
    "http_proxy={url}",
    "https_proxy={url}",
    "NO_PROXY=127.0.0.1,localhost",
    "no_proxy=127.0.0.1,localhost",
    "NODE_USE_ENV_PROXY=1",
    "DO_NOT_TRACK=1",
];

fn fill(text: &str, scratch: &Scratch<'_>, url: &str) -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    text.replace("{node}", &scratch.peers().node().display().to_string())
        .replace("{agents}", &scratch.peers().agents().display().to_string())
        .replace("{system}", &format!("{system}-{processor}"))
        .replace("{project}", &scratch.project().display().to_string())
        .replace("{url}", url)
}
