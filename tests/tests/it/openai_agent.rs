//! `openai_agent`, the example of an agent around a model's endpoint, with an endpoint of our own.

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binaries::{agentwire, openai_agent};
use crate::model::{Answer, Model, Request, calls, text_events};
use crate::program::{Ended, Program, SOON};
use crate::rows;

const KEY: &str = "sk-never-shown";

/// An agent, its endpoint, and the folder of its sessions.
struct Setup {
    model: Model,
    folder: TempDir,
}

impl Setup {
    fn new(answers: Vec<Answer>) -> Self {
        Self { model: Model::answering(answers), folder: tempfile::tempdir().expect("there is room") }
    }

    /// The command line of the agent.
    fn agent(&self) -> String {
        self.agent_of(KEY, &self.model.base)
    }

    /// The same with another key or endpoint.
    fn agent_of(&self, key: &str, base: &str) -> String {
        let variables = format!("NO_PROXY=* OPENAI_MODEL=small OPENAI_API_KEY={key} OPENAI_BASE_URL={base}");
        format!("env {variables} '{}' '{}/sessions'", openai_agent().display(), self.folder.path().display())
    }

    fn chat(&self, arguments: &[&str]) -> Ended {
        let cwd = self.folder.path().to_str().expect("it is text");
        Program::run(&[&["chat", "--agent", &self.agent(), "--cwd", cwd], arguments].concat(), SOON)
    }
}

/// The results of tools that the model gets.
fn results(request: &Request) -> Vec<&str> {
    let messages = request.body["messages"].as_array().expect("there are messages");
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().expect("it is text")).collect()
}

fn roles(request: &Request) -> Vec<&str> {
    let messages = request.body["messages"].as_array().expect("there are messages");
    messages.iter().map(|message| message["role"].as_str().expect("it is text")).collect()
}

#[test]
fn an_answer_is_streamed_and_the_request_lists_the_tools() {
    let setup = Setup::new(vec![Answer::Stream(text_events(&["Hel", "lo"]))]);
    let calculator = format!("calc='{}' server", agentwire().display());
    let ended = setup.chat(&["--json", "--mcp", &calculator, "hi"]);
    let chunks: Vec<_> = ended.exits(0).objects().iter().filter_map(text).collect();
    assert_eq!(chunks, ["Hel", "lo"], "{ended}");
    let request = setup.model.request();
    assert!(request.head.starts_with("post /v1/chat/completions "), "{}", request.head);
    assert!(request.head.contains(&format!("authorization: bearer {KEY}\r\n")), "{}", request.head);
    assert_eq!((&request.body["model"], &request.body["stream"]), (&json!("small"), &json!(true)));
    assert_eq!(request.body["messages"][1], json!({ "role": "user", "content": "hi" }));
    let (_, job) = request.text.split_once(r#""name":"job""#).expect("the demo server has it");
    let at = |member: &str| job.find(&format!("\"{member}\":{{")).expect("it is a parameter");
    assert!(at("seconds") < at("steps") && at("steps") < at("ask"), "as its author wrote them: {job}");
    let tools = request.body["tools"].as_array().expect("there are tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["function"]["name"].as_str().expect("a name")).collect();
    assert!(names.starts_with(&["read_file", "run_command"]) && names.contains(&"add"), "{names:?}");
}

/// The text of a piece of the agent's message.
fn text(line: &Value) -> Option<String> {
    let update = &line["update"];
    let is_message = update["sessionUpdate"] == "agent_message_chunk";
    is_message.then(|| update["content"]["text"].as_str().expect("it is text").to_owned())
}

#[test]
fn tools_run_with_permission_and_the_model_gets_their_results() {
    let calculator = format!("calc='{}' server", agentwire().display());
    let rows: [(&str, &str, &[&str], &str); 5] = [
        ("run_command", r#"{"command": "echo $((6 * 7))"}"#, &["--yes"], "42\n"),
        ("run_command", r#"{"command": "touch made"}"#, &[], "`run_command` was not permitted"),
        ("add", r#"{"a": 2, "b": 40}"#, &["--yes"], "42"),
        ("add", r#"{"a": 2, "b": 40}"#, &[], "not permitted"),
        ("run_command", r#"{"command": "ec"#, &["--yes"], "The arguments are not a JSON object"),
    ];
    rows::for_each(&rows, |(name, arguments, options, expected)| {
        let setup =
            Setup::new(vec![Answer::Stream(calls(name, arguments)), Answer::Stream(text_events(&["Done"]))]);
        let ended = setup.chat(&[*options, &["--mcp", &calculator, "go"]].concat());
        ended.exits(if options.is_empty() { 6 } else { 0 }).prints("Done");
        assert_eq!(roles(&setup.model.request()), ["system", "user"]);
        let request = setup.model.request();
        assert_eq!(roles(&request), ["system", "user", "assistant", "tool"], "{ended}");
        let call = &request.body["messages"][2]["tool_calls"][0];
        assert_eq!(call["function"]["name"], *name);
        assert_eq!(call["id"], request.body["messages"][3]["tool_call_id"]);
        assert!(results(&request)[0].contains(expected), "{:?}", results(&request));
        assert!(!setup.folder.path().join("made").exists(), "it was not permitted");
    });
}

#[test]
fn a_cancelled_turn_closes_the_connection_to_the_endpoint() {
    let setup = Setup::new(vec![Answer::Hang(text_events(&["Once upon a time"])[..1].to_vec())]);
    let mut chat = Program::start(&["chat", "--json", "--agent", &setup.agent(), "tell me"]);
    chat.close_stdin();
    chat.stdout
        .until("the first piece", |bytes| String::from_utf8_lossy(bytes).contains("Once upon").then_some(()));
    chat.signal(Signal::INT);
    setup.model.is_given_up();
    let ended = chat.end(SOON);
    ended.prints(r#""stopReason":"cancelled""#);
}

#[test]
fn a_loaded_session_goes_on_after_a_restart() {
    let read = calls("read_file", r#"{"path": "note.txt"}"#);
    let answers = vec![
        Answer::Stream(read),
        Answer::Stream(text_events(&["It is blue."])),
        Answer::Stream(text_events(&["Blue."])),
    ];
    let setup = Setup::new(answers);
    std::fs::write(setup.folder.path().join("note.txt"), "The sky is blue.").expect("there is room");
    setup.chat(&["--yes", "what does the note say?"]).exits(0).prints("It is blue.");
    setup.chat(&["--continue", "which colour?"]).exits(0).prints("Blue.");
    let (_, _, request) = (setup.model.request(), setup.model.request(), setup.model.request());
    assert_eq!(roles(&request), ["system", "user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(results(&request), ["The sky is blue."]);
    assert_eq!(request.body["messages"][4]["content"], "It is blue.");
}

#[test]
fn fault_of_the_endpoint_is_reported_without_the_key() {
    let told = |message: &str| json!({ "error": { "message": message } }).to_string();
    let rows = [
        (
            Answer::Refusal("401 Unauthorized", told(&format!("Incorrect API key: {KEY}"))),
            "the model's endpoint does not accept OPENAI_API_KEY (HTTP 401): Incorrect API key: …",
        ),
        (
            Answer::Refusal("429 Too Many Requests\r\nretry-after: 20", told("Rate limit reached")),
            "the model's endpoint asks to wait 20 s (HTTP 429): Rate limit reached",
        ),
        (
            Answer::Refusal("500 Internal Server Error", "\u{1b}[2Jsorry".to_owned()),
            "the model's endpoint failed (HTTP 500): ^[[2Jsorry",
        ),
        (Answer::Broken(text_events(&["half"])[..1].to_vec()), "the model's answer was cut off"),
        (
            Answer::Stream(vec![json!({ "error": { "message": "overloaded" } })]),
            "the model's endpoint failed: overloaded",
        ),
        (Answer::Broken(vec![]), "the model's answer was cut off"),
        (
            Answer::Stream(vec![json!({ "error": { "message": format!("no {KEY} {}", "x".repeat(9000)) } })]),
            "the model's endpoint failed: no … xxx",
        ),
        (
            Answer::Stream(vec![json!({ "choices": format!("{KEY} {}", "x".repeat(9000)) })]),
            "the model's answer cannot be read: invalid type: string",
        ),
    ];
    for (answer, expected) in rows {
        let setup = Setup::new(vec![answer]);
        let ended = setup.chat(&["hi"]);
        ended.exits(1).reports(expected);
        assert!(!ended.stderr.contains(KEY) && !ended.stdout.contains(KEY), "{ended}");
        assert!(ended.stderr.len() < 2000, "{ended}");
    }
}

#[test]
fn an_empty_key_is_none_and_a_password_of_the_endpoint_is_not_shown() {
    let refusal = json!({ "error": { "message": "overloaded" } }).to_string();
    let setup = Setup::new(vec![Answer::Refusal("500 Internal Server Error", refusal)]);
    let agent = setup.agent_of("", &setup.model.base);
    Program::run(&["chat", "--agent", &agent, "hi"], SOON).exits(1).reports("(HTTP 500): overloaded");
    let request = setup.model.request();
    assert!(!request.head.contains("authorization"), "{}", request.head);

    let agent = setup.agent_of(KEY, "http://user:hunter2@127.0.0.1:1/v1");
    let ended = Program::run(&["chat", "--agent", &agent, "hi"], SOON);
    ended.exits(1).reports("the model's endpoint 127.0.0.1:1 cannot be reached");
    assert!(!ended.stderr.contains("hunter2"), "{ended}");
}
