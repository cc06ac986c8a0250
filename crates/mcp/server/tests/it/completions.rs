//! Completions of arguments and template variables.

use agentwire_mcp_server::schema::{Completion, ServerCapabilities};
use agentwire_mcp_server::{
    Context, ErrorObject, PartialArgument, Server, ServerPrompt, ServerResourceTemplate,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::raw::{NEWEST, REVISIONS, Raw, alone, with_raw, with_session};
use crate::subject::subject;

#[derive(Deserialize, JsonSchema)]
struct Review {
    language: String,
    framework: Option<String>,
    depth: Option<u8>,
}

async fn review(Review { language, framework, depth }: Review, _: Context) -> String {
    format!("{language} {} {}", framework.as_deref().unwrap_or("-"), depth.unwrap_or(0))
}

async fn languages(typed: PartialArgument, _: Context) -> Vec<String> {
    typed.among(["python", "pascal", "rust"])
}

async fn frameworks(typed: PartialArgument, _: Context) -> Result<Vec<&'static str>, ErrorObject> {
    match typed.others.get("language").map(String::as_str) {
        Some("python") => Ok(vec!["flask", "django"]),
        Some("cobol") => Err(ErrorObject::invalid_params("not that")),
        _ => Ok(Vec::new()),
    }
}

async fn numbers(_: PartialArgument, _: Context) -> Vec<String> {
    (0..250).map(|number| number.to_string()).collect()
}

async fn too_many(_: PartialArgument, _: Context) -> Completion {
    let mut completion = Completion::default().total(1000_u64);
    completion.values = vec!["x".to_owned(); 101];
    completion
}

fn reviewer() -> Server {
    let reviews = ServerPrompt::new("review", "Review a file", review)
        .complete("language", languages)
        .complete("framework", frameworks);
    let numbered =
        ServerResourceTemplate::new("numbers:///{number}{?of,by}", "number", async |_: Numbers, _| "")
            .complete("number", numbers)
            .complete("of", too_many);
    Server::new("reviewer", "1").with_prompt(reviews).with_resource_template(numbered)
}

#[derive(Deserialize)]
struct Numbers {}

fn prompt(argument: &str, value: &str) -> Value {
    json!({ "ref": { "type": "ref/prompt", "name": "review" }, "argument": { "name": argument, "value": value } })
}

fn template(variable: &str) -> Value {
    let reference = json!({ "type": "ref/resource", "uri": "numbers:///{number}{?of,by}" });
    json!({ "ref": reference, "argument": { "name": variable, "value": "" } })
}

async fn complete(raw: &mut Raw, params: Value) -> Value {
    raw.result_of("completion/complete", params).await["completion"].take()
}

#[tokio::test(start_paused = true)]
async fn completion_works_in_every_revision() {
    for revision in REVISIONS {
        with_session(&reviewer(), revision, async |raw| {
            let words = complete(raw, prompt("language", "p")).await;
            assert_eq!(words, json!({ "values": ["python", "pascal"] }), "{revision}");
        })
        .await;
    }
    with_raw(&reviewer(), async |raw| {
        let result = raw.result_of("completion/complete", alone(prompt("language", "r"))).await;
        assert_eq!(result["completion"]["values"], json!(["rust"]));
        assert_eq!(result["resultType"], "complete");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_other_arguments_are_known() {
    with_session(&reviewer(), NEWEST, async |raw| {
        assert_eq!(complete(raw, prompt("framework", "")).await, json!({ "values": [] }));
        let mut params = prompt("framework", "");
        params["context"] = json!({ "arguments": { "language": "python" } });
        assert_eq!(complete(raw, params.clone()).await, json!({ "values": ["flask", "django"] }));
        params["context"] = json!({ "arguments": { "language": "cobol" } });
        assert_eq!(raw.refusal_of("completion/complete", params).await, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cmp_02_no_more_than_100_values_and_how_many_there_are() {
    with_session(&reviewer(), NEWEST, async |raw| {
        for (variable, total) in [("number", 250), ("of", 1000)] {
            let completion = complete(raw, template(variable)).await;
            assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
            assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(total), &json!(true)));
        }
        assert_eq!(complete(raw, template("by")).await, json!({ "values": [] }), "nobody knows");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cmp_02_what_is_not_there_cannot_be_completed() {
    with_session(&reviewer(), NEWEST, async |raw| {
        let mut stranger = prompt("language", "");
        stranger["ref"]["name"] = json!("nobody");
        let mut kind = prompt("language", "");
        kind["ref"]["type"] = json!("ref/tool");
        let params = [stranger, kind, prompt("nothing", ""), template("nothing"), json!({})];
        for params in params {
            let code = raw.refusal_of("completion/complete", params.clone()).await;
            assert_eq!(code, -32602, "{params}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cmp_01_completions_capability_is_advertised_in_revisions_that_have_it() {
    let advertised = async |server: &Server, revision| {
        let mut answer = with_raw(server, async |raw| raw.initialize(revision).await).await;
        let capabilities = answer["result"]["capabilities"].take();
        serde_json::from_value::<ServerCapabilities>(capabilities).expect("capabilities").has("completions")
    };
    for revision in REVISIONS {
        assert_eq!(advertised(&reviewer(), revision).await, revision >= "2025-03-26");
        assert!(!advertised(&subject(), revision).await);
    }
    let asked = async |raw: &mut Raw| raw.refusal_of("completion/complete", prompt("language", "")).await;
    assert_eq!(with_session(&subject(), NEWEST, asked).await, -32601);
}

#[tokio::test(start_paused = true)]
async fn an_argument_of_a_prompt_can_be_a_number() {
    with_session(&reviewer(), NEWEST, async |raw| {
        let get =
            |depth: &str| json!({ "name": "review", "arguments": { "language": "rust", "depth": depth } });
        let filled = raw.result_of("prompts/get", get("7")).await;
        assert_eq!(filled["messages"][0]["content"]["text"], "rust - 7");
        let refused = raw.ask("prompts/get", get("deep")).await;
        assert_eq!(refused["error"]["code"], -32602);
        let text = refused["error"]["message"].as_str().unwrap();
        assert!(text.contains("`depth`: expected u8, found the string \"deep\""), "{refused}");
    })
    .await;
}

#[test]
#[should_panic(expected = "the prompt `review` has no argument `colour`")]
fn only_what_is_there_can_be_completed() {
    let _ = ServerPrompt::new("review", "", review).complete("colour", languages);
}
