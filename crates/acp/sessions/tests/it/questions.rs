//! The questions of MCP servers during a turn.

use std::sync::{Arc, Mutex};

use agentwire_acp_sessions::hub::HubConfig;
use agentwire_acp_sessions::hub::schema::{
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult,
};
use agentwire_acp_sessions::schema::StopReason;
use agentwire_acp_sessions::{PermissionPolicy, SessionAgent, Turn, agent};
use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_server::schema::SamplingMessage;
use agentwire_mcp_server::{AskError, Context, Elicited, Form, NoArguments, Page, Server, field};
use serde_json::{Value, json};

use crate::peer::{Peer, capable, play, text};
use crate::tools::within;

/// The text of a tool for an answer.
fn told(answer: Result<String, AskError>) -> String {
    answer.unwrap_or_else(|error| format!("cannot ask: {}", WithCauses::new(&error)))
}

/// A server whose tools ask.
fn asking() -> Server {
    Server::new("asking", "1")
        .tool("form", "Asks by a form", async |_: NoArguments, cx: Context| {
            let form = Form::new("Who?").required("name", field::text());
            told(cx.elicit("who", form).await.map(|answer| match answer {
                Elicited::Accept(answer) => format!("is {}", answer["name"]),
                Elicited::Decline => "declined".into(),
                Elicited::Cancel => "cancelled".into(),
            }))
        })
        .tool("page", "Asks to visit", async |_: NoArguments, cx: Context| {
            let page = Page::new("Look", "https://example.com/x");
            told(
                cx.elicit("page", page)
                    .await
                    .map(|answer| format!("agreed: {}", matches!(answer, Elicited::Accept(())))),
            )
        })
        .tool("bad", "Asks to visit what looks like another page", async |_: NoArguments, cx: Context| {
            let page = Page::new("Look", "https://you@example.com/x");
            told(cx.elicit("page", page).await.map(|_| "asked".to_owned()))
        })
        .tool("long", "Asks at length", async |_: NoArguments, cx: Context| {
            let form = Form::new("Who? ".repeat(400)).required("name", field::text());
            told(cx.elicit("who", form).await.map(|_| "asked".to_owned()))
        })
        .tool("sample", "Uses the model", async |_: NoArguments, cx: Context| {
            let request = CreateMessageRequest::new(vec![SamplingMessage::user("Greet")], 7);
            told(cx.sample("greeting", request).await.map(|answer| answer.model))
        })
        .tool("roots", "Asks for the folders", async |_: NoArguments, cx: Context| {
            let uris = |roots: Vec<_>| {
                roots
                    .into_iter()
                    .map(|root: agentwire_mcp_server::schema::Root| root.uri)
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            told(cx.list_roots().await.map(uris))
        })
}

fn calling() -> SessionAgent {
    noting(&Arc::default())
}

/// Calls the tool that the prompt names, and sends its answer. With `later`, the turn ends before the call, and the
/// answer is noted.
fn noting(answers: &Arc<Mutex<Vec<String>>>) -> SessionAgent {
    let answers = answers.clone();
    let turn = async |turn: Turn, answers: Arc<Mutex<Vec<String>>>| {
        let result = match turn.text().strip_prefix("later ") {
            None => turn.call_tool(turn.text(), ()).await,
            // The call goes on after the turn.
            Some(tool) => {
                let hub = turn.mcp().clone();
                let (tool, answers) = (tool.to_owned(), answers.clone());
                hub.ready().await;
                tokio::spawn(async move {
                    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
                    let answer = hub.call(&tool, ()).await.unwrap();
                    answers.lock().unwrap().push(answer.text().into_owned());
                });
                return Ok(StopReason::EndTurn);
            }
        };
        let said = match result {
            Ok(result) => result.text().into_owned(),
            Err(error) => format!("failed: {}", WithCauses::new(&error)),
        };
        turn.say(said).await?;
        Ok(StopReason::EndTurn)
    };
    let agent = agent(move |context: Turn| turn(context, answers.clone()));
    agent.mcp_server(within("asking", asking())).permissions(PermissionPolicy::Allow)
}

fn with_elicitation(elicitation: Value) -> Value {
    let mut client = capable();
    client["elicitation"] = elicitation;
    client
}

/// Plays a client of these capabilities.
async fn with(agent: SessionAgent, client: Value, main: impl AsyncFnOnce(&mut Peer, &str)) {
    play(agent, async |peer| {
        peer.initialize(client).await;
        let session = peer.open("/repo").await;
        main(peer, &session).await;
    })
    .await;
}

async fn said(peer: &mut Peer, prompt: u64) -> String {
    assert_eq!(peer.stopped(prompt).await, "end_turn");
    let updates = peer.updates();
    let said = updates.iter().filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    said.map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn a_form_goes_to_the_client_with_the_name_of_the_server() {
    with(calling(), with_elicitation(json!({ "form": {} })), async |peer, session| {
        let answers = [
            (json!({ "action": "accept", "content": { "name": "Ada" } }), "is \"Ada\""),
            (json!({ "action": "decline" }), "declined"),
            (json!({ "action": "cancel" }), "cancelled"),
            (json!({ "action": "postpone" }), "cancelled"),
        ];
        for (answer, expected) in answers {
            let prompt = peer.begin_prompt(session, "form").await;
            let asked = peer.asked("elicitation/create").await;
            let name = json!({ "type": "string" });
            let schema = json!({ "type": "object", "properties": { "name": name }, "required": ["name"] });
            let message = "The MCP server `asking` asks: Who?";
            let expected_params = json!({ "mode": "form", "sessionId": session, "message": message, "requestedSchema": schema });
            assert_eq!(asked["params"], expected_params);
            peer.answer(&asked, answer).await;
            assert_eq!(said(peer, prompt).await, expected);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_page_goes_to_the_client_under_an_id_of_the_agents() {
    with(calling(), with_elicitation(json!({ "url": {} })), async |peer, session| {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let prompt = peer.begin_prompt(session, "page").await;
            let asked = peer.asked("elicitation/create").await;
            assert_eq!(asked["params"]["url"], "https://example.com/x");
            ids.push(asked["params"]["elicitationId"].as_str().unwrap().to_owned());
            peer.answer(&asked, json!({ "action": "accept" })).await;
            assert_eq!(said(peer, prompt).await, "agreed: true");
        }
        assert_ne!(ids[0], ids[1]);
        let prompt = peer.begin_prompt(session, "bad").await;
        let said = said(peer, prompt).await;
        assert!(said.contains("credentials") || said.contains("user name"), "{said}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn servers_see_the_kinds_of_elicitation_that_the_client_supports() {
    let tools = ["form", "page", "sample"];
    for (client, can) in [(json!({}), [false; 3]), (json!({ "form": {} }), [true, false, false])] {
        with(calling(), with_elicitation(client), async |peer, session| {
            for (tool, can) in tools.into_iter().zip(can) {
                if can {
                    continue;
                }
                let prompt = peer.begin_prompt(session, tool).await;
                let said = said(peer, prompt).await;
                assert!(said.starts_with("cannot ask: "), "{tool}: {said}");
            }
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_its_turn_and_none_is_asked_without_one() {
    let answers = Arc::<Mutex<Vec<String>>>::default();
    with(noting(&answers), with_elicitation(json!({ "form": {} })), async |peer, session| {
        let prompt = peer.begin_prompt(session, "form").await;
        let asked = peer.asked("elicitation/create").await;
        peer.cancel(session).await;
        assert_eq!(peer.stopped(prompt).await, "cancelled");
        let withdrawn = peer.next().await;
        let mut withdrawn = Some(withdrawn);
        while withdrawn.as_ref().is_some_and(|message| message["method"] != "$/cancel_request") {
            withdrawn = Some(peer.next().await);
        }
        assert_eq!(withdrawn.unwrap()["params"]["requestId"], asked["id"]);
        peer.drain();
        let prompt = peer.begin_prompt(session, "later form").await;
        assert_eq!(peer.stopped(prompt).await, "end_turn");
        peer.drain();
        // The call is made, and the client receives nothing of it.
        peer.silence().await;
        assert_eq!(*answers.lock().unwrap(), ["cancelled"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn roots_of_a_server_are_those_of_the_session() {
    play(calling(), async |peer| {
        peer.initialize(capable()).await;
        let params = json!({ "cwd": "/a b", "additionalDirectories": ["/other"], "mcpServers": [] });
        let session = peer.call("session/new", params).await;
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let prompt = peer.begin_prompt(&session, "roots").await;
        assert_eq!(said(peer, prompt).await, "file:///a%20b file:///other");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_author_can_lend_the_model_and_answer_questions() {
    let hub = HubConfig::new().elicitation(async |server: String, form: ElicitFormRequest| {
        assert_eq!((&*server, &*form.message), ("asking", "Who?"));
        Ok(ElicitResult::decline())
    });
    let agent =
        calling().hub(hub).on_sampling(async |turn: Turn, server: String, request: CreateMessageRequest| {
            turn.say(format!("{server} wants {} tokens; ", request.max_tokens)).await?;
            Ok(CreateMessageResult::new("a model", "Hello"))
        });
    with(agent, with_elicitation(json!({ "form": {} })), async |peer, session| {
        let prompt = peer.begin_prompt(session, "sample").await;
        assert_eq!(said(peer, prompt).await, "asking wants 7 tokens; a model");
        let prompt = peer.begin_prompt(session, "form").await;
        assert_eq!(said(peer, prompt).await, "declined");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_over_the_limit_of_an_update_is_refused() {
    let agent = calling().update_limit(1500);
    with(agent, with_elicitation(json!({ "form": {} })), async |peer, session| {
        let prompt = peer.begin_prompt(session, "long").await;
        let said = said(peer, prompt).await;
        assert!(said.contains("and the limit is 1500"), "{said}");
    })
    .await;
}

#[cfg(feature = "v2")]
#[tokio::test(start_paused = true)]
async fn a_client_of_version_2_gets_the_same_questions() {
    play(calling().v2(true), async |peer| {
        let info = json!({ "name": "c", "version": "1" });
        let capabilities = json!({ "elicitation": { "form": {}, "url": {} } });
        let hello = json!({ "protocolVersion": 2, "info": info, "capabilities": capabilities });
        peer.call("initialize", hello).await;
        let session = peer.open("/repo").await;
        let rows = [
            ("form", json!({ "action": "accept", "content": { "name": "Ada" } }), "is \"Ada\""),
            ("page", json!({ "action": "accept" }), "agreed: true"),
            ("form", json!({ "action": "decline" }), "declined"),
        ];
        for (tool, answer, expected) in rows {
            crate::v2::begin(peer, &session, tool).await;
            let asked = peer.asked("elicitation/create").await;
            let message = asked["params"]["message"].as_str().unwrap();
            assert!(message.starts_with("The MCP server `asking` asks: "), "{message}");
            peer.answer(&asked, answer).await;
            let messages = crate::v2::until_idle(peer).await;
            let brief = crate::v2::brief(&messages);
            assert!(brief.contains(&format!("agent {expected}")), "{brief:?}");
        }
    })
    .await;
}
