//! An author's mistakes are refused at once, by a panic that names them, at the author's line.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use agentwire_mcp_server::schema::JsonSchema as Schema;
use agentwire_mcp_server::{
    PartialArgument, Server, ServerPrompt, ServerResource, ServerResourceTemplate, ServerTool, State,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

thread_local! {
    static PLACE: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
}

/// Returns the message, the file and the line of the panic of a registration.
pub(crate) fn panic_of(register: impl FnOnce()) -> (String, String, u32) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| {
            let place = info.location().map(|location| (location.file().to_owned(), location.line()));
            PLACE.with_borrow_mut(|panic| *panic = place);
            others(info);
        }));
    });
    let panic = catch_unwind(AssertUnwindSafe(register)).expect_err("it is refused");
    let message = panic.downcast::<String>().map_or_else(|_| String::new(), |text| *text);
    let (file, line) = PLACE.with_borrow_mut(Option::take).expect("the hook ran");
    (message, file, line)
}

/// Returns the message of a panic at a line of this file.
fn refused(register: impl FnOnce()) -> String {
    let (message, file, _) = panic_of(register);
    assert!(
        file.ends_with("registration.rs") && file.contains("tests"),
        "the author's line, and not that of {file}"
    );
    message
}

#[derive(Deserialize, JsonSchema)]
struct Word(#[allow(dead_code, reason = "only a type")] String);

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

async fn hello() -> &'static str {
    "hello"
}

async fn word(_: Word) -> &'static str {
    "hello"
}

async fn city(City { city }: City) -> String {
    city
}

async fn legacy(number: State<u64>) -> String {
    number.to_string()
}

async fn complete(_: PartialArgument) -> Vec<String> {
    Vec::new()
}

fn server() -> Server {
    Server::new("subject", "1.0.0")
}

#[test]
fn a_name_that_is_taken() {
    let twice = |what: &str, key: &str, add: &str| {
        format!("the {what} `{key}` is registered twice: use `Server::{add}` to replace the first")
    };
    let tools = refused(|| drop(server().tool("t", "", hello).tool("t", "", hello)));
    assert_eq!(tools, twice("tool", "t", "add_tool"));
    let tools = refused(|| drop(server().tool("t", "", hello).with_tool(ServerTool::new("t", "", hello))));
    assert_eq!(tools, twice("tool", "t", "add_tool"));
    let resources =
        refused(|| drop(server().resource("memo:///a", "a", hello).resource("memo:///a", "b", hello)));
    assert_eq!(resources, twice("resource", "memo:///a", "add_resource"));
    let template = "memo:///{city}";
    let templates = refused(|| {
        drop(server().resource_template(template, "a", city).resource_template(template, "b", city))
    });
    assert_eq!(templates, twice("resource template", template, "add_resource_template"));
    let prompts = refused(|| drop(server().prompt("p", "", hello).prompt("p", "", hello)));
    assert_eq!(prompts, twice("prompt", "p", "add_prompt"));

    let server = server().tool("t", "", hello);
    server.add_tool(ServerTool::new("t", "another", hello));
}

#[test]
fn a_name_that_is_none() {
    let rule = "a name is 1 to 128 of `A-Z a-z 0-9 _ - .`";
    for name in ["", "a b", "é", "a/b", &"x".repeat(129)] {
        assert_eq!(refused(|| drop(server().tool(name, "", hello))), format!("the tool {name:?}: {rule}"));
        assert_eq!(
            refused(|| drop(server().prompt(name, "", hello))),
            format!("the prompt {name:?}: {rule}")
        );
        assert_eq!(
            refused(|| drop(ServerPrompt::new(name, "", hello))),
            format!("the prompt {name:?}: {rule}")
        );
    }
    for uri in ["", "motto", "://x", "1a:x", "memo:"] {
        let expected = format!("the resource {uri:?}: a URI begins with a scheme, as in `memo:///motto`");
        assert_eq!(refused(|| drop(server().resource(uri, "a", hello))), expected);
        assert_eq!(refused(|| drop(ServerResource::new(uri, "a", hello))), expected);
    }
    let message = refused(|| drop(server().resource("memo:///a b", "a", hello)));
    assert!(message.starts_with("the resource \"memo:///a b\": a URI has no white space"), "{message}");
    let message = refused(|| drop(server().resource_template("memo:///{city", "a", city)));
    assert_eq!(message, "the resource template `memo:///{city`: a brace has no partner: `{city`");
}

#[test]
fn a_schema_that_is_none() {
    let wrong = "`Word` cannot be an argument type: arguments are an object, so give it named members";
    assert_eq!(refused(|| drop(server().tool("t", "", word))), format!("the tool `t`: {wrong}"));
    assert_eq!(refused(|| drop(server().prompt("p", "", word))), format!("the prompt `p`: {wrong}"));
    let schema = Schema::try_from(json!({ "type": "string" })).expect("an object");
    let message = refused(|| drop(ServerTool::new("t", "", hello).input_schema(schema)));
    assert_eq!(message, "the tool `t`: the `type` of its input schema is not `object`");
    let marked =
        Schema::try_from(json!({ "type": "object", "properties": { "a": { "x-mcp-header": "A" } } }));
    let tool = ServerTool::new("t", "", hello).input_schema(marked.expect("an object"));
    let message = refused(|| drop(server().with_tool(tool)));
    assert!(message.starts_with("the tool `t`: `x-mcp-header` at `/properties/a`"), "{message}");
}

#[test]
fn a_state_that_is_missing() {
    let missing = |what: &str, key: &str| {
        format!(
            "the {what} `{key}` takes `State<u64>`, which the server does not have: \
             call `Server::state` with it before the {what} is added"
        )
    };
    assert_eq!(refused(|| drop(server().tool("t", "", legacy))), missing("tool", "t"));
    assert_eq!(refused(|| server().add_tool(ServerTool::new("t", "", legacy))), missing("tool", "t"));
    assert_eq!(
        refused(|| drop(server().resource("memo:///a", "a", legacy))),
        missing("resource", "memo:///a")
    );
    let template = "memo:///{city}";
    let message = refused(|| drop(server().resource_template(template, "a", legacy)));
    assert_eq!(message, missing("resource template", template));
    assert_eq!(refused(|| drop(server().prompt("p", "", legacy))), missing("prompt", "p"));
}

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    #[serde(alias = "town")]
    city: String,
    #[serde(default)]
    day: u8,
    #[allow(dead_code, reason = "only a type")]
    unit: Option<String>,
}

async fn forecast(forecast: Forecast) -> String {
    format!("{} {}", forecast.city, forecast.day)
}

#[test]
fn variable_without_a_member_is_refused() {
    let template = |uri_template: &str| {
        ServerResourceTemplate::new(uri_template, "forecast", forecast).definition().uri_template.clone()
    };
    for fits in ["weather:///{city}", "weather:///{town}{?day,unit}"] {
        assert_eq!(template(fits), fits);
    }
    let message = refused(|| drop(server().resource_template("weather:///{city}{?hour}", "a", forecast)));
    let why = "no member of its arguments is `hour`; there are `city`, `town`, `day`, `unit`";
    assert_eq!(message, format!("the resource template `weather:///{{city}}{{?hour}}`: {why}"));
    let message = refused(|| drop(ServerResourceTemplate::new("weather:///{day}", "a", forecast)));
    let why = "`city` is required and no variable gives it: add one, or take an `Option`";
    assert_eq!(message, format!("the resource template `weather:///{{day}}`: {why}"));
    let edit = || {
        let template = ServerResourceTemplate::new("weather:///{city}", "a", forecast);
        drop(template.edit(|template| template.uri_template = "weather:///{other}".to_owned()));
    };
    assert!(refused(edit).contains("no member of its arguments is `other`"));
    // Without arguments the values are of no use to the function, and a map takes any.
    drop(ServerResourceTemplate::new("weather:///{city}", "a", hello));
    let any = async |values: std::collections::BTreeMap<String, String>| format!("{values:?}");
    drop(ServerResourceTemplate::new("weather:///{city}", "a", any));
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only types")]
struct Wrong<T> {
    first: bool,
    wrong: T,
}

#[derive(Deserialize, JsonSchema)]
enum Tone {
    #[serde(rename = "kind")]
    Kind,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only a type")]
struct Text {
    tone: Tone,
    at: Option<std::num::NonZeroU32>,
    from: std::net::IpAddr,
    #[serde(deserialize_with = "commas")]
    tags: Vec<String>,
    any: serde_json::Value,
}

fn commas<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(text.split(',').map(str::to_owned).collect())
}

#[test]
fn argument_that_text_cannot_fill_is_refused() {
    fn of<T: serde::de::DeserializeOwned + JsonSchema + Send + 'static>() -> [String; 2] {
        let function = async |_: Wrong<T>| "";
        let prompt = refused(|| drop(server().prompt("p", "", function)));
        let template = refused(|| drop(server().resource_template("a:///{first}/{wrong}", "a", function)));
        [prompt, template]
    }
    for (kind, messages) in [
        ("an array", of::<Vec<String>>()),
        ("an array", of::<Option<std::collections::HashSet<u8>>>()),
        ("an array", of::<(u8, u8)>()),
        ("an object", of::<City>()),
        ("an object", of::<std::collections::HashMap<String, String>>()),
    ] {
        let why = format!(
            "text cannot be read as `wrong`, which is {kind}: take a string, a number, a `bool` or an enum of strings, \
             or read it from a string with `#[serde(deserialize_with = …)]`"
        );
        assert_eq!(messages[0], format!("the prompt `p`: {why}"));
        assert_eq!(messages[1], format!("the resource template `a:///{{first}}/{{wrong}}`: {why}"));
    }
    drop(server().prompt("p", "", async |_: Text| ""));
}

#[test]
fn an_argument_that_does_not_exist() {
    let message = refused(|| drop(ServerPrompt::new("p", "", city).complete("town", complete)));
    assert_eq!(message, "the prompt `p` has no argument `town`");
    let message =
        refused(|| drop(ServerResourceTemplate::new("memo:///{city}", "a", city).complete("town", complete)));
    assert_eq!(message, "`memo:///{city}` has no variable `town`");
}

/// A captured value of a function may use the server when it is dropped.
#[test]
fn a_tool_is_dropped_outside_the_locks() {
    struct Guard(Server);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.remove_tool("other");
        }
    }
    let tool = |server: &Server| {
        let guard = std::sync::Arc::new(Guard(server.clone()));
        ServerTool::new("held", "Holds the server", move || {
            let _held = &guard;
            async {}
        })
    };
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let server = Server::new("s", "1");
        for _ in 0..2 {
            server.add_tool(ServerTool::new("other", "Goes", async || {}));
            server.add_tool(tool(&server));
        }
        assert!(!server.remove_tool("other"), "the first guard has removed it");
        assert!(server.remove_tool("held"));
        sender.send(()).unwrap();
    });
    done.recv_timeout(std::time::Duration::from_secs(20)).expect("no lock is held");
}
