//! Reads `products.json`: the agents, how each is started, and what it does.

use std::sync::LazyLock;

use serde_json::Value;

/// An agent.
///
/// In its texts `{node}` stands for the program that runs JavaScript, `{agents}` for the folder of the packages,
/// `{system}` for this system's name in package names, `{project}` for the session's folder and `{url}` for our model.
pub(crate) struct Product {
    /// Its name in the names of its pairs.
    pub(crate) id: String,
    /// Its name in `initialize`.
    pub(super) name: String,
    pub(super) command: Vec<String>,
    /// Variables as `NAME=VALUE`, which disable updates, telemetry and the like.
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
pub(crate) struct Refusal {
    pub(super) code: i64,
    pub(crate) methods: Vec<String>,
}

/// The settings of an agent for our model.
pub(crate) struct Model {
    pub(super) environment: Vec<String>,
    /// Files in its home: paths and contents.
    pub(super) settings: Vec<(String, String)>,
    /// A tool and its arguments, which writes `hello from the model` into `note.txt`.
    pub(crate) write: String,
    /// Whether it asks before it writes.
    pub(crate) asks: bool,
    /// Whether it lets the client read and write.
    pub(super) through_client: bool,
    /// The content of `note.txt` before the turn; none if there is no such file.
    pub(crate) before: Option<String>,
}

/// An agent that `agentwire agents install` installs.
pub(crate) struct Installed {
    pub(crate) distribution: Distribution,
    pub(crate) arguments: Vec<String>,
    /// A tool and its arguments, which runs a command that prints three rows.
    pub(crate) run: String,
    /// Whether it reports the output of a command.
    pub(crate) shows: bool,
    /// Whether it lists its sessions.
    pub(crate) keeps: bool,
    /// Whether it also speaks version 2.
    pub(crate) speaks_version_2: bool,
}

/// What an agent is installed from.
pub(crate) enum Distribution {
    /// A package of npm.
    Package(String),
    /// The archive of a package of npm for one system, and the path of the executable in it.
    Archive { package: String, executable: String },
}

/// All agents.
pub(crate) static PRODUCTS: LazyLock<Vec<Product>> = LazyLock::new(|| {
    let list: Vec<Value> = serde_json::from_str(include_str!("products.json")).expect("a list of objects");
    list.iter().map(Product::read).collect()
});

impl Product {
    fn read(product: &Value) -> Self {
        Self {
            id: text(&product["id"]),
            name: text(&product["name"]),
            command: list(&product["command"]),
            environment: list(&product["environment"]),
            refusal: product.get("refusal").map(|refusal| Refusal {
                code: refusal["code"].as_i64().unwrap_or_default(),
                methods: list(&refusal["methods"]),
            }),
            model: product.get("model").map(Model::read),
            installed: product.get("installed").map(Installed::read),
            pairs: list(&product["pairs"]),
        }
    }
}

impl Model {
    fn read(model: &Value) -> Self {
        let settings = model["settings"].as_object().into_iter().flatten();
        Self {
            environment: list(&model["environment"]),
            settings: settings.map(|(path, content)| (path.clone(), text(content))).collect(),
            write: format!("{} {}", text(&model["write"][0]), model["write"][1]),
            asks: model["asks"] != false,
            through_client: model["throughClient"] == true,
            before: model["before"].as_str().map(str::to_owned),
        }
    }
}

impl Installed {
    fn read(installed: &Value) -> Self {
        let distribution = match installed["archive"].as_str() {
            Some(package) => Distribution::Archive {
                package: package.to_owned(),
                executable: text(&installed["executable"]),
            },
            None => Distribution::Package(text(&installed["package"])),
        };
        Self {
            distribution,
            arguments: list(&installed["args"]),
            run: format!("{} {}", text(&installed["run"][0]), installed["run"][1]),
            shows: installed["shows"] != false,
            keeps: installed["keeps"] != false,
            speaks_version_2: installed["versions"]
                .as_array()
                .is_some_and(|versions| versions.contains(&2.into())),
        }
    }
}

/// A string as it is, anything else as JSON text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
