//! Our ACP client with widely used agents, without a key and without a network.
//!
//! The expected behaviour of each is data in [`table`], so a change in a new version fails its pair.

mod opening;
mod table;
mod turns;

use std::fs;

use anyhow::{Context as _, Result};

pub(super) use self::opening::PAIRS as OPENINGS;
pub(super) use self::turns::PAIRS as TURNS;
use super::scratch::Scratch;

/// The options with which `agentwire chat` asks for version 2 and accepts version 1.
const VERSION_2: &[&str] = &["--protocol", "auto"];

/// A port without a listener: the proxy of agents without our model.
const UNREACHABLE: &str = "http://127.0.0.1:9";

/// An agent.
///
/// In its texts `{node}` stands for the program that runs JavaScript, `{agents}` for the folder of the packages,
/// `{system}` for this system's name in package names, `{project}` for the session's folder and `{url}` for our model.
struct Product {
    /// Its name in `initialize`.
    name: &'static str,
    command: &'static [&'static str],
    /// Variables as `NAME=VALUE`, which disable updates, telemetry and the like.
    environment: &'static [&'static str],
    /// The outcome of `session/new` without a key.
    session: Session,
    /// Its settings for our model; none if it only works with an account of its vendor.
    model: Option<Model>,
}

/// The outcome of `session/new`.
enum Session {
    /// A session.
    Opens,
    /// This error. `initialize` offers these authentication methods.
    Refused { code: i64, methods: &'static [&'static str] },
}

/// The settings of an agent for our model.
struct Model {
    /// Additional arguments.
    arguments: &'static [&'static str],
    environment: &'static [&'static str],
    /// Files in its home: paths and contents.
    settings: &'static [(&'static str, &'static str)],
    /// A tool and its arguments, which writes `hello from the model` into `note.txt`.
    write: &'static str,
    /// Whether it asks before it writes.
    asks: bool,
    /// Whether it lets the client read and write.
    through_client: bool,
    /// The content of `note.txt` before the turn; none if there is no such file.
    before: Option<&'static str>,
}

impl Product {
    /// Writes its settings and returns its command line, for the model at `url` if there is one.
    fn command(&self, scratch: &Scratch<'_>, url: Option<&str>) -> Result<Vec<String>> {
        let fill = |text: &str| fill(text, scratch, url.unwrap_or(UNREACHABLE));
        let model = self.model.as_ref().filter(|_| url.is_some());
        for (name, content) in model.map_or(&[][..], |model| model.settings) {
            let path = scratch.home().join(name);
            fs::create_dir_all(path.parent().context("a file in the home")?)?;
            fs::write(path, fill(content))?;
        }
        let mut words = vec!["env".to_owned(), scratch.peers().node_path()];
        words.extend(OFFLINE.iter().chain(self.environment).map(|variable| fill(variable)));
        words.extend(model.into_iter().flat_map(|model| model.environment).map(|variable| fill(variable)));
        words.extend(self.command.iter().map(|word| fill(word)));
        words.extend(model.into_iter().flat_map(|model| model.arguments).map(|word| fill(word)));
        Ok(words)
    }
}

/// Keeps agents off the network: their requests go to a proxy that refuses them.
const OFFLINE: &[&str] = &[
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
