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
    pub(super) refusal: Option<Refusal>,
    /// Its settings for our model; none if it only works with an account of its vendor.
    pub(crate) model: Option<Model>,
    /// Its checks, by their names.
    pub(super) pairs: Vec<String>,
}

/// The outcome of `session/new`: an error, and the authentication methods of `initialize`.
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) methods: Vec<String>,
}

/// The settings of an agent for our model.
pub(crate) struct Model {
    /// Additional arguments.
    pub(super) arguments: Vec<String>,
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
            pairs: list(&product["pairs"]),
        }
    }
}

impl Model {
    fn read(model: &Value) -> Self {
        let settings = model["settings"].as_object().into_iter().flatten();
        Self {
            arguments: list(&model["arguments"]),
            environment: list(&model["environment"]),
            settings: settings.map(|(path, content)| (path.clone(), text(content))).collect(),
            write: format!("{} {}", text(&model["write"][0]), model["write"][1]),
            asks: model["asks"] != false,
            through_client: model["throughClient"] == true,
            before: model["before"].as_str().map(str::to_owned),
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
