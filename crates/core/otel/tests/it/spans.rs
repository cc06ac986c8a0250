//! The names, kinds, attributes and status of spans.

use agentwire_jsonrpc::ErrorObject;
use agentwire_otel::{Config, Network};
use agentwire_peer::Dialect;
use opentelemetry::trace::{SpanKind, Status};
use std::sync::Arc;
use std::time::Duration;

use crate::support::{
    Answers, call, connected, connected_by, is_child, json, kept, method_not_found, observed, shown,
};

#[tokio::test(start_paused = true)]
async fn call_is_a_span_on_both_sides() {
    let kept = kept(Config::new());
    let client = kept.telemetry.mcp_client().network(Network::http(Some("2")).server("example.com", 443));
    let server = kept.telemetry.mcp_server().network(Network::pipe());
    let refuse = Answers(async |request, _| method_not_found(&request));
    let handler = Answers(async |_, _| Ok(json(r#"{"content":[]}"#)));
    let params = r#"{"name":"add","arguments":{"secret":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    connected(client, server, refuse, handler, async |peer| call(&peer, "tools/call", params).await.unwrap())
        .await;
    let spans = kept.spans();
    let [server, client] = &*spans else { panic!("{spans:?}") };
    assert_eq!((&*server.name, &*client.name), ("tools/call add", "tools/call add"));
    assert_eq!((&server.span_kind, &client.span_kind), (&SpanKind::Server, &SpanKind::Client));
    assert!(is_child(server, client) && server.parent_span_is_remote);
    assert_eq!((&server.status, &client.status), (&Status::Unset, &Status::Unset));
    assert_eq!(
        shown(&client.attributes),
        "gen_ai.operation.name=execute_tool gen_ai.tool.name=add jsonrpc.request.id=1 mcp.method.name=tools/call \
         mcp.protocol.version=2026-07-28 network.protocol.name=http network.protocol.version=2 network.transport=tcp \
         server.address=example.com server.port=443"
    );
    assert_eq!(
        shown(&server.attributes),
        "gen_ai.operation.name=execute_tool gen_ai.tool.name=add jsonrpc.request.id=1 mcp.method.name=tools/call \
         mcp.protocol.version=2026-07-28 network.transport=pipe"
    );
    let scope = &server.instrumentation_scope;
    assert_eq!(scope.name(), "agentwire");
}

#[tokio::test(start_paused = true)]
async fn names_are_the_method_and_its_target() {
    let kept = kept(Config::new());
    let handler = Answers(async |_, _| Ok(json("{}")));
    observed(&kept, handler, async |peer| {
        call(&peer, "prompts/get", r#"{"name":"hello"}"#).await.unwrap();
        call(&peer, "resources/read", r#"{"uri":"file:///a"}"#).await.unwrap();
        call(&peer, "ping", "{}").await.unwrap();
    })
    .await;
    let spans = kept.spans();
    let names: Vec<_> =
        spans.iter().filter(|span| span.span_kind == SpanKind::Client).map(|span| &*span.name).collect();
    assert_eq!(names, ["prompts/get hello", "resources/read", "ping"]);
    assert!(shown(&spans[0].attributes).contains("gen_ai.prompt.name=hello"));
    assert!(shown(&spans[2].attributes).contains("mcp.resource.uri=file:///a"));
}

#[tokio::test(start_paused = true)]
async fn uri_is_shown_without_its_credentials() {
    let kept = kept(Config::new());
    let handler = Answers(async |_, _| Err(ErrorObject::new(-32002, "no https://user:pass@host/a?token=1")));
    observed(&kept, handler, async |peer| {
        let params = r#"{"uri":"https://user:pass@host/a?token=1"}"#;
        call(&peer, "resources/read", params).await.unwrap_err();
        call(&peer, "resources/read", r#"{"uri":"https://host/a"}"#).await.unwrap_err();
    })
    .await;
    let spans = kept.spans();
    assert!(
        spans.iter().all(|span| shown(&span.attributes).contains(" mcp.resource.uri=https://host/a ")),
        "{spans:?}"
    );
    let client = spans.iter().filter(|span| span.span_kind == SpanKind::Client);
    let status: Vec<_> = client.map(|span| span.status.clone()).collect();
    assert_eq!(status, [Status::error(""), Status::error("no https://user:pass@host/a?token=1")]);
}

#[tokio::test(start_paused = true)]
async fn request_of_a_server_swaps_the_roles() {
    let kept = kept(Config::new());
    let (client, server) = (kept.telemetry.mcp_client(), kept.telemetry.mcp_server());
    let answers = Answers(async |_, _| Ok(json(r#"{"roots":[]}"#)));
    let asks = Answers(async |_, context: agentwire_peer::RequestContext| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        call(context.peer(), "roots/list", "{}").await.unwrap();
        Ok(json("{}"))
    });
    connected(client, server, answers, asks, async |peer| {
        call(&peer, "tools/call", r#"{"name":"a"}"#).await.unwrap()
    })
    .await;
    let spans = kept.spans();
    let shown: Vec<_> = spans.iter().map(|span| format!("{} {:?}", span.name, span.span_kind)).collect();
    assert_eq!(
        shown,
        ["roots/list Server", "roots/list Client", "tools/call a Server", "tools/call a Client"]
    );
    assert!(spans.windows(2).all(|pair| is_child(&pair[0], &pair[1])));
}

#[tokio::test(start_paused = true)]
async fn errors_have_a_type() {
    let kept = kept(Config::new());
    let handler = Answers(async |request: agentwire_jsonrpc::Request, _| match &*request.method {
        "tools/call" => Ok(json(r#"{"content":[],"isError":true}"#)),
        "ping" => Err(ErrorObject::new(404, "not\nhere")),
        _ => std::future::pending().await,
    });
    observed(&kept, handler, async |peer| {
        call(&peer, "tools/call", r#"{"name":"a"}"#).await.unwrap();
        call(&peer, "ping", "{}").await.unwrap_err();
        let late = agentwire_peer::runtime::call_raw(&peer, "tools/list", None);
        late.timeout(Duration::from_secs(1)).await.unwrap_err();
    })
    .await;
    let spans = kept.spans();
    let client = spans.iter().filter(|span| span.span_kind == SpanKind::Client);
    let errors: Vec<_> = client
        .map(|span| {
            let attributes = span.attributes.iter();
            let of_error = |key: &str| key == "error.type" || key == "rpc.response.status_code";
            (shown(attributes.filter(|attribute| of_error(attribute.key.as_str()))), span.status.clone())
        })
        .collect();
    assert_eq!(
        errors,
        [
            ("error.type=tool_error".into(), Status::error("")),
            ("error.type=_OTHER rpc.response.status_code=_OTHER".into(), Status::error("not here")),
            ("error.type=timeout".into(), Status::error("")),
        ]
    );
    let cancelled =
        spans.iter().find(|span| span.name == "tools/list" && span.span_kind == SpanKind::Server).unwrap();
    assert!(shown(&cancelled.attributes).contains("error.type=cancelled"));
}

#[tokio::test(start_paused = true)]
async fn callers_mistake_is_not_an_error_of_the_server_span() {
    let kept = kept(Config::new());
    let handler = Answers(async |request, _| method_not_found(&request));
    observed(&kept, handler, async |peer| call(&peer, "tools/list", "{}").await.unwrap_err()).await;
    let spans = kept.spans();
    let [server, client] = &*spans else { panic!("{spans:?}") };
    assert_eq!(server.status, Status::Unset);
    assert_eq!(
        shown(&server.attributes),
        "jsonrpc.request.id=1 mcp.method.name=tools/list rpc.response.status_code=-32601"
    );
    assert!(matches!(client.status, Status::Error { .. }));
    assert_eq!(
        shown(&client.attributes),
        "error.type=-32601 jsonrpc.request.id=1 mcp.method.name=tools/list rpc.response.status_code=-32601"
    );
}

#[tokio::test(start_paused = true)]
async fn content_is_shown_if_it_is_configured() {
    let kept = kept(Config::new().content(true));
    let handler = Answers(async |_, _| Ok(json(r#"{"content":[]}"#)));
    let params = r#"{"name":"a","arguments":{"b":1}}"#;
    observed(&kept, handler, async |peer| call(&peer, "tools/call", params).await.unwrap()).await;
    for span in kept.spans() {
        let attributes = shown(&span.attributes);
        assert!(attributes.contains(r#"gen_ai.tool.call.arguments={"b":1}"#), "{attributes}");
        assert!(attributes.contains(r#"gen_ai.tool.call.result={"content":[]}"#), "{attributes}");
    }
}

#[tokio::test(start_paused = true)]
async fn acp_has_its_own_attribute_names() {
    let kept = kept(Config::new());
    let (client, agent) = (kept.telemetry.acp_client(), kept.telemetry.acp_agent());
    let refuse = Answers(async |request, _| method_not_found(&request));
    let handler = Answers(async |_, _| Ok(json(r#"{"sessionId":"s1"}"#)));
    connected_by(
        Dialect::ACP,
        Some(Arc::new(client)),
        Some(Arc::new(agent)),
        refuse,
        handler,
        async |peer| {
            agentwire_peer::runtime::set_revision(&peer, "1");
            call(&peer, "session/new", r#"{"cwd":"/"}"#).await.unwrap();
            call(&peer, "session/prompt", r#"{"sessionId":"s1","prompt":[]}"#).await.unwrap();
            call(&peer, "_mine", "{}").await.unwrap();
        },
    )
    .await;
    let spans = kept.spans();
    let client: Vec<_> = spans.iter().filter(|span| span.span_kind == SpanKind::Client).collect();
    let lines: Vec<_> =
        client.iter().map(|span| format!("{}: {}", span.name, shown(&span.attributes))).collect();
    assert_eq!(
        lines,
        [
            "session/new: acp.method.name=session/new acp.protocol.version=1 acp.session.id=s1 jsonrpc.request.id=1",
            "session/prompt: acp.method.name=session/prompt acp.protocol.version=1 acp.session.id=s1 jsonrpc.request.id=2",
            "_OTHER: acp.method.name=_OTHER acp.protocol.version=1 jsonrpc.request.id=3",
        ]
    );
    assert!(is_child(&spans[0], &spans[1]));
}
