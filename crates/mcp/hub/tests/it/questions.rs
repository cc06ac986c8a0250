//! Questions of servers that the host's functions answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::Era;
use agentwire_mcp_client::schema::{
    CreateMessageRequest, CreateMessageResult, ElicitAction, ElicitFormRequest, ElicitResult,
    ElicitUrlRequest, Root, SamplingMessage, TaskSupport,
};
use agentwire_mcp_hub::{CustomTarget, Hub, HubConfig, HubError, ServerConfig};
use agentwire_mcp_server::{
    Context, Elicited, Form, NoArguments, Page, Server, ServerTool, Tasks, ToolError, field,
};
use agentwire_transport::duplex;
use serde::Deserialize;

use crate::script::{check_received, server};

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// Asks every kind of question.
async fn ask(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let form = Form::new("Who?").required("name", field::text()).typed::<Name>();
    let Elicited::Accept(Name { name }) = cx.elicit("who", form).await? else {
        return Ok("nobody".into());
    };
    let Elicited::Accept(()) = cx.elicit("page", Page::new("Look", "https://example.com/")).await? else {
        return Ok("not looked at".into());
    };
    let sampled =
        cx.sample("greeting", CreateMessageRequest::new(vec![SamplingMessage::user("Greet")], 7)).await?;
    let roots = cx.list_roots().await?;
    Ok(format!("{name}, {}, {}", sampled.model, roots[0].uri))
}

/// A server in this process, with that tool, which may run as a task.
fn asking(name: &str, support: TaskSupport) -> ServerConfig {
    let target = CustomTarget::new(name, move || {
        let (near, far) = duplex(8);
        let tool = ServerTool::new("ask", "Asks", ask).task(support.clone());
        let tasks = Tasks::new(|work| drop(tokio::spawn(work)));
        let server = Server::new("asking", "1").with_tool(tool).tasks(tasks);
        tokio::spawn(async move { server.serve(far).await });
        Ok(near)
    });
    ServerConfig::new(name, target)
}

/// Answers every question, and records the server that asked.
fn answering(asked: &Arc<Mutex<Vec<String>>>) -> HubConfig {
    let [form, url, sampling] = [(); 3].map(|()| asked.clone());
    HubConfig::new()
        .elicitation(move |server, request: ElicitFormRequest| {
            form.lock().unwrap().push(format!("{server}: {}", request.message));
            let filled = serde_json::json!({ "name": "Ada" });
            async move { Ok(ElicitResult::accept(filled.as_object().cloned().unwrap())) }
        })
        .elicitation_url(move |server, request: ElicitUrlRequest| {
            url.lock().unwrap().push(format!("{server}: {}", request.url));
            async { Ok(ElicitResult::new(ElicitAction::Accept)) }
        })
        .sampling(move |server, request: CreateMessageRequest| {
            sampling.lock().unwrap().push(format!("{server}: {} tokens", request.max_tokens));
            async { Ok(CreateMessageResult::new("a model", "Hello")) }
        })
        .roots([Root::new("file:///repo")])
}

async fn with_hub<R>(
    config: HubConfig,
    servers: impl IntoIterator<Item = ServerConfig>,
    main: impl AsyncFnOnce(&Hub) -> R,
) -> R {
    let (hub, driver) = Hub::with_config(config, servers);
    let main = async {
        hub.ready().await;
        let result = main(&hub).await;
        hub.close().await;
        result
    };
    tokio::join!(driver, main).1
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_in_sessions_in_rounds_and_in_tasks() {
    let rows = [
        (Era::Legacy, TaskSupport::Forbidden),
        (Era::Legacy, TaskSupport::Required),
        (Era::Modern, TaskSupport::Forbidden),
        (Era::Modern, TaskSupport::Required),
    ];
    for (era, support) in rows {
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let config = answering(&asked).era(era);
        let servers = ["one", "two"].map(|name| asking(name, support.clone()));
        with_hub(config, servers, async |hub| {
            let result = hub.call("two__ask", ()).await.unwrap();
            assert_eq!(result.text(), "Ada, a model, file:///repo", "{era:?} {support:?}");
        })
        .await;
        let expected = ["two: Who?", "two: https://example.com/", "two: 7 tokens"];
        assert_eq!(*asked.lock().unwrap(), expected, "{era:?} {support:?}");
    }
}

#[tokio::test]
async fn server_gets_only_the_capabilities_that_are_set() {
    let none = HubConfig::new();
    let all = answering(&Arc::default());
    let states = [&none, &all].map(|config| {
        [config.has_elicitation(), config.has_elicitation_url(), config.has_sampling(), config.has_roots()]
    });
    assert_eq!(states, [[false; 4], [true; 4]]);
    let rows = [
        (none, "{}"),
        (all, r#"{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}"#),
        (HubConfig::new().elicitation(async |_, _| Ok(ElicitResult::decline())), r#"{"elicitation":{}}"#),
    ];
    // It returns its capabilities.
    let cases = r#"*'"initialize"'*)
            told=${line#*\"capabilities\":}; told=${told%%,\"clientInfo\"*}; answer "$hello" ;;
        *'"tools/call"'*) text "$(printf '%s' "$told" | sed 's/"/\\"/g')" ;;"#;
    for (config, expected) in rows {
        let config = config.tasks(None).era(Era::Legacy);
        with_hub(config, [server("s", "told", cases)], async |hub| {
            let told = hub.call("told", ()).await.unwrap();
            assert_eq!(told.text(), expected);
        })
        .await;
        check_received();
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_has_a_time_limit_and_ends_with_its_call() {
    let (dropped, mut drops) = futures::channel::mpsc::unbounded();
    let config =
        HubConfig::new().input_timeout(Duration::from_secs(30)).era(Era::Modern).elicitation(move |_, _| {
            let dropped = dropped.clone();
            async move {
                let _guard = on_drop(move || dropped.unbounded_send(()).unwrap());
                std::future::pending().await
            }
        });
    with_hub(config, [asking("s", TaskSupport::Forbidden)], async |hub| {
        let error = hub.call("ask", ()).await.unwrap_err();
        let error = WithCauses::new(&error).to_string();
        assert!(error.contains("there was no answer within 30s"), "{error}");
        assert!(drops.try_recv().is_ok());
        let call = tokio::time::timeout(Duration::from_secs(5), async { hub.call("ask", ()).await });
        assert!(call.await.is_err());
        assert!(drops.try_recv().is_ok());
    })
    .await;
}

/// Calls a function when it is dropped.
fn on_drop(function: impl FnMut()) -> impl Drop {
    struct Guard<F: FnMut()>(F);
    impl<F: FnMut()> Drop for Guard<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    Guard(function)
}

#[tokio::test(start_paused = true)]
async fn error_of_an_unanswered_question_names_the_capability() {
    let rows = [
        (HubConfig::new(), "a form for the user to fill in"),
        (
            HubConfig::new().elicitation(async |_, _| {
                let filled = serde_json::json!({ "name": "Ada" });
                Ok(ElicitResult::accept(filled.as_object().cloned().unwrap()))
            }),
            "a page for the user to visit",
        ),
    ];
    for (config, wanted) in rows {
        let config = config.era(Era::Modern);
        with_hub(config, [asking("s", TaskSupport::Forbidden)], async |hub| {
            let error = hub.call("ask", ()).await.unwrap_err();
            assert!(matches!(error, HubError::Unanswered { .. }), "{error:?}");
            let expected = format!("the server `s` asks for what cannot be answered here: {wanted}");
            assert_eq!(error.to_string(), expected);
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn number_of_concurrent_questions_is_limited() {
    let config = answering(&Arc::default()).input_requests(0).era(Era::Legacy);
    with_hub(config, [asking("s", TaskSupport::Forbidden)], async |hub| {
        let result = hub.call("ask", ()).await.unwrap();
        assert!(
            result.is_error && result.text().contains("more than 0 questions at once"),
            "{}",
            result.text()
        );
    })
    .await;
}
