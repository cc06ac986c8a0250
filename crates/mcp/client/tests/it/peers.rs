//! The server's questions and notifications.

use std::sync::{Arc, Mutex};

use agentwire_mcp_client::schema::{
    AudioContent, CreateMessageRequest, CreateMessageResult, ElicitAction, ElicitResult, JsonObject, Meta,
    Root, SamplingContent, TextContent, ToolUseContent,
};
use agentwire_mcp_client::{Client, Era, RemoteServer};
use serde_json::json;

use crate::mock::{Mock, with_mock, with_server};

/// Waits until the script is through, by being asked to.
async fn wait(server: RemoteServer) -> Result<(), agentwire_mcp_client::BoxError> {
    server.closed().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn png_01_and_rpc_12_pings_are_answered_and_the_unknown_is_not_found() {
    let script = async |mut mock: Mock| {
        assert_eq!(mock.ask("ping", json!({})).await["result"], json!({}));
        for method in ["roots/list", "sampling/createMessage", "elicitation/create", "dance"] {
            assert_eq!(mock.ask(method, json!({})).await["error"]["code"], -32601, "{method}");
        }
        mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/unheard-of" })).await;
        mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": 1 } }))
            .await;
        assert_eq!(mock.ask("ping", json!({})).await["result"], json!({}));
    };
    with_server(Client::default(), script, wait).await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn answerable_questions_are_advertised_and_answered() {
    let client = Client::default().roots(vec![Root::new("file:///repo")]).sampling(
        async |request: CreateMessageRequest| {
            let text = SamplingContent::from(TextContent::new(format!("{} tokens", request.max_tokens)));
            Ok(CreateMessageResult::new("model", text))
        },
    );
    let script = async |mut mock: Mock| {
        let request = mock.greet("2025-11-25").await;
        assert_eq!(request["params"]["capabilities"], json!({ "roots": {}, "sampling": {} }));
        let roots = mock.ask("roots/list", json!({})).await;
        assert_eq!(roots["result"], json!({ "roots": [{ "uri": "file:///repo" }] }));
        let sampled = mock.ask("sampling/createMessage", json!({ "messages": [], "maxTokens": 7 })).await;
        assert_eq!(sampled["result"]["content"]["text"], "7 tokens");
        let wrong = mock.ask("sampling/createMessage", json!({ "messages": 1 })).await;
        assert_eq!(wrong["error"]["code"], -32602);
    };
    with_mock(client.era(Era::Legacy), script, wait).await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn tools_for_the_model_need_their_capability() {
    let client = Client::default().sampling(async |_: CreateMessageRequest| {
        Ok(CreateMessageResult::new("m", SamplingContent::from("4")))
    });
    let able = client.clone().advertise(|capabilities| {
        capabilities.sampling.get_or_insert_default().tools = Some(JsonObject::new());
    });
    // Before 2025-11-25 neither the capability nor the members exist, and unknown members are ignored.
    for (client, revision, is_taken) in
        [(client.clone(), "2025-11-25", false), (able, "2025-11-25", true), (client, "2025-06-18", true)]
    {
        let script = async |mut mock: Mock| {
            mock.greet(revision).await;
            for (member, value) in [("tools", json!([])), ("toolChoice", json!({ "mode": "auto" }))] {
                let mut params = json!({ "messages": [], "maxTokens": 7 });
                params[member] = value;
                let sampled = mock.ask("sampling/createMessage", params).await;
                assert_eq!(sampled.get("result").is_some(), is_taken, "{sampled}");
                assert_eq!(sampled["error"]["code"] == -32602, !is_taken, "{sampled}");
            }
        };
        with_mock(client.era(Era::Legacy), script, wait).await.0.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn lif_12_older_server_gets_only_members_of_its_revision() {
    let client = Client::default()
        .roots(vec![Root::new("file:///repo").meta(Meta::from_iter([("k".to_owned(), json!(1))]))])
        .sampling(async |request: CreateMessageRequest| {
            if request.max_tokens == 1 {
                return Ok(CreateMessageResult::new("m", ToolUseContent::new("1", "add", JsonObject::new())));
            }
            let sound =
                AudioContent::new("", "audio/wav").meta(Meta::from_iter([("k".to_owned(), json!(1))]));
            Ok(CreateMessageResult::new("m", sound))
        })
        .elicitation(async |_| {
            let chosen = json!({ "sizes": ["s", "m"] });
            Ok(ElicitResult::accept(chosen.as_object().cloned().expect("an object")))
        });
    let script = async |mut mock: Mock| {
        mock.greet("2024-11-05").await;
        let roots = mock.ask("roots/list", json!({})).await;
        assert_eq!(roots["result"], json!({ "roots": [{ "uri": "file:///repo" }] }));
        let sampled = mock.ask("sampling/createMessage", json!({ "messages": [], "maxTokens": 7 })).await;
        let text = "[a sound of type audio/wav, which this peer cannot take]";
        assert_eq!(sampled["result"]["content"], json!({ "type": "text", "text": text }));
        // What has no older form is an error, not an answer that the server cannot read.
        let used = mock.ask("sampling/createMessage", json!({ "messages": [], "maxTokens": 1 })).await;
        assert_eq!(used["error"]["code"], -32603, "{used}");
        assert!(used["error"]["message"].as_str().unwrap().contains("`ToolUseContent`"), "{used}");
        let form = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
        let chosen = mock.ask("elicitation/create", form).await;
        assert_eq!(chosen["error"]["code"], -32603, "{chosen}");
    };
    with_mock(client.era(Era::Legacy), script, wait).await.0.unwrap();
}

/// SEP-1034.
#[tokio::test(start_paused = true)]
async fn omitted_fields_of_an_accepted_form_have_their_defaults() {
    let form = json!({ "message": "m", "requestedSchema": { "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string", "default": "Ada" },
        "age": { "type": "integer", "default": 36 },
        "score": { "type": "number", "default": 9 },
        "sure": { "type": "boolean", "default": false },
        "size": { "type": "string", "enum": ["s", "m"], "default": "m" },
        "some": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "default": ["a"] },
        "none": { "type": "string" },
    } } });
    let filled = json!({
        "name": "Bea", "age": 36, "score": 9, "sure": false, "size": "m", "some": ["a"], "own": 1,
    });
    let own = json!({ "name": "Bea", "own": 1 }).as_object().cloned().unwrap();
    let rows = [
        (ElicitResult::accept(own.clone()), json!({ "action": "accept", "content": filled })),
        (ElicitResult::decline(), json!({ "action": "decline" })),
        (ElicitResult::cancel().content(own.clone()), json!({ "action": "cancel", "content": own })),
    ];
    for (result, expected) in rows {
        let client = Client::default().elicitation(move |_| {
            let result = result.clone();
            async move { Ok(result) }
        });
        let script = async |mut mock: Mock| {
            let request = mock.greet("2025-11-25").await;
            assert_eq!(request["params"]["capabilities"], json!({ "elicitation": {} }));
            assert_eq!(mock.ask("elicitation/create", form.clone()).await["result"], expected);
            let page =
                json!({ "mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "1" });
            assert_eq!(mock.ask("elicitation/create", page).await["error"]["code"], -32602, "not advertised");
        };
        with_mock(client.era(Era::Legacy), script, wait).await.0.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn the_modes_of_elicitation_are_those_with_a_function() {
    let url = |client: Client| client.elicitation_url(async |_| Ok(ElicitResult::new(ElicitAction::Accept)));
    let form = |client: Client| client.elicitation(async |_| Ok(ElicitResult::decline()));
    let both = json!({ "form": {}, "url": {} });
    for (client, expected, form_answer) in [
        (url(Client::default()), json!({ "url": {} }), "error"),
        (url(form(Client::default())), both.clone(), "result"),
        (form(url(Client::default())), both, "result"),
    ] {
        let script = async |mut mock: Mock| {
            let request = mock.greet("2025-11-25").await;
            assert_eq!(request["params"]["capabilities"]["elicitation"], expected);
            let page =
                json!({ "mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "1" });
            assert_eq!(mock.ask("elicitation/create", page).await["result"], json!({ "action": "accept" }));
            let form = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
            assert!(mock.ask("elicitation/create", form).await.get(form_answer).is_some());
        };
        with_mock(client.era(Era::Legacy), script, wait).await.0.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn can_04_a_request_that_the_server_takes_back_is_dropped_and_not_answered() {
    struct Dropped(Arc<Mutex<u32>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let dropped = Arc::new(Mutex::new(0));
    let count = dropped.clone();
    let client = Client::default().sampling(move |_: CreateMessageRequest| {
        let guard = Dropped(count.clone());
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let script = async |mut mock: Mock| {
        mock.greet("2025-11-25").await;
        let params = json!({ "messages": [], "maxTokens": 7 });
        mock.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": params }))
            .await;
        let params = json!({ "requestId": 1 });
        mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
        assert_eq!(mock.ask("ping", json!({})).await["result"], json!({}));
        assert_eq!(*dropped.lock().unwrap(), 1);
    };
    with_mock(client.era(Era::Legacy), script, wait).await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn messages_of_the_server_are_handled_in_order_and_before_a_later_answer() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hook = |name: &'static str| {
        let heard = heard.clone();
        move |what: String| heard.lock().unwrap().push(format!("{name} {what}"))
    };
    let (log, tools, resources, prompts, updated, other) =
        (hook("log"), hook("tools"), hook("resources"), hook("prompts"), hook("updated"), hook("other"));
    let client = Client::default()
        .on_log(move |message| log(message.data.to_string()))
        .on_tools_changed(move || tools(String::new()))
        .on_resources_changed(move || resources(String::new()))
        .on_prompts_changed(move || prompts(String::new()))
        .on_resource_updated(updated)
        .on_other(move |notification| other(notification.method.to_string()));
    let script = async |mut mock: Mock| {
        let ping = mock.expect("ping").await;
        for (method, params) in [
            ("notifications/message", json!({ "level": "info", "data": 1 })),
            ("notifications/tools/list_changed", json!({})),
            ("notifications/resources/list_changed", json!({})),
            ("notifications/prompts/list_changed", json!({})),
            ("notifications/resources/updated", json!({ "uri": "x:" })),
            ("notifications/new", json!({})),
        ] {
            mock.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
        }
        mock.answer(&ping, json!({})).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(client, script, async |server| {
        server.ping().await?;
        Ok(heard.lock().unwrap().clone())
    })
    .await;
    let expected = ["log 1", "tools ", "resources ", "prompts ", "updated x:", "other notifications/new"];
    assert_eq!(result.unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn rpc_22_and_27_batches_are_taken_at_2025_03_26_and_never_sent() {
    for (revision, taken) in [("2025-03-26", true), ("2025-06-18", false)] {
        let script = async |mut mock: Mock| {
            mock.greet(revision).await;
            let ping = mock.expect("ping").await;
            let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
            let answer = json!({ "jsonrpc": "2.0", "id": ping["id"], "result": {} });
            mock.send(json!([asked, answer])).await;
            let reply = mock.next().await.unwrap();
            if taken {
                assert_eq!(reply, json!([{ "jsonrpc": "2.0", "id": 1, "result": {} }]));
            } else {
                assert_eq!(reply["error"]["code"], -32600);
            }
            while mock.next().await.is_some() {}
            let requests = mock.heard.iter().filter(|message| message.get("method").is_some());
            assert_eq!(requests.count(), 3, "initialize, initialized, ping");
        };
        let (result, ()) =
            with_mock(Client::default().era(Era::Legacy), script, async |server| Ok(server.ping().await?))
                .await;
        // No other answer will come.
        assert_eq!(result.is_ok(), taken, "{result:?}");
    }
}
