//! Reads `products.json`: the agents, how each is started, and what it does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

/// An agent.
///
/// In its texts `{node}` stands for the program that runs JavaScript, `{agents}` for the folder of the packages,
/// `{system}` for this system's name in package names, `{project}` for the session's folder and `{url}` for our model.
#[derive(Deserialize)]
pub(crate) struct Product {
    /// Its name in the names of its pairs.
    pub(crate) id: String,
    /// Its name in `initialize`.
    pub(super) name: String,
    pub(super) command: Vec<String>,
    /// Variables as `NAME=VALUE`, which disable updates, telemetry and the like.
    #[serde(default)]
    pub(super) environment: Vec<String>,
    /// The error of `session/new` without a key; none if a session opens.
    pub(crate) refusal: Option<Refusal>,
    /// Its settings for our model; none if it only works with an account of its vendor.
    pub(crate) model: Option<Model>,
    /// How it is installed by its name; none if it is not.
    pub(crate) installed: Option<Installed>,
    /// Its checks, by their names.
    pub(super) pairs: Vec<String>,
}

/// The outcome of `session/new`: an error, and the authentication methods of `initialize`.
#[derive(Deserialize)]
pub(crate) struct Refusal {
    pub(super) code: i64,
    pub(crate) methods: Vec<String>,
}

/// The settings of an agent for our model.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Model {
    #[serde(default)]
    pub(super) environment: Vec<String>,
    /// Files in its home: paths, and contents as text or as JSON.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Value>,
    /// Writes `hello from the model` into `note.txt`.
    pub(crate) write: ToolCall,
    /// Whether it asks before it writes.
    #[serde(default = "yes")]
    pub(crate) asks: bool,
    /// Whether it lets the client read and write.
    #[serde(default)]
    pub(super) through_client: bool,
    /// The content of `note.txt` before the turn; none if there is no such file.
    pub(crate) before: Option<String>,
}

/// An agent that `agentwire agents install` installs.
#[derive(Deserialize)]
pub(crate) struct Installed {
    #[serde(flatten)]
    pub(crate) distribution: Distribution,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Runs a command that prints three rows.
    pub(crate) run: ToolCall,
    /// Whether it reports the output of a command.
    #[serde(default = "yes")]
    pub(crate) shows: bool,
    /// Whether it lists its sessions.
    #[serde(default = "yes")]
    pub(crate) keeps: bool,
    /// The versions of ACP that it speaks, if there are several.
    #[serde(default)]
    pub(crate) versions: Vec<u32>,
}

/// The source of an installation.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Distribution {
    /// The archive of a package of npm for one system, and the path of the executable in it.
    Archive { archive: String, executable: String },
    /// A package of npm.
    Package { package: String },
}

/// A tool and its arguments, as a prompt has them for our model.
#[derive(Deserialize)]
pub(crate) struct ToolCall(String, Value);

impl fmt::Display for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

fn yes() -> bool {
    true
}

/// All agents.
pub(crate) static PRODUCTS: LazyLock<Vec<Product>> =
    LazyLock::new(|| serde_json::from_str(include_str!("products.json")).expect("a list of agents"));
