//! The limits on a peer's text in attributes.

use agentwire_jsonrpc::ErrorObject;
use agentwire_otel::{Config, TEXT_LIMIT};
use opentelemetry::trace::SpanKind;

use crate::support::{Answers, call, json, kept, observed, shown};

#[tokio::test(start_paused = true)]
async fn unknown_methods_and_names_share_one_value() {
    let kept = kept(Config::new());
    let handler = Answers(async |request: agentwire_jsonrpc::Request, _| {
        let params = request.params.unwrap();
        match params.member("name") {
            Some(name) if name.as_str() == r#""real""# => Ok(json("{}")),
            _ => Err(ErrorObject::invalid_params("no such tool")),
        }
    });
    observed(&kept, handler, async |peer| {
        for index in 0..3 {
            call(&peer, &format!("made/up{index}"), "{}").await.unwrap_err();
            call(&peer, "tools/call", &format!(r#"{{"name":"made up {index}"}}"#)).await.unwrap_err();
        }
        call(&peer, "tools/call", r#"{"name":"real"}"#).await.unwrap();
    })
    .await;
    assert_eq!(
        kept.points("mcp.server.operation.duration"),
        [
            "gen_ai.operation.name=execute_tool gen_ai.tool.name=real mcp.method.name=tools/call = 1",
            "gen_ai.operation.name=execute_tool mcp.method.name=tools/call rpc.response.status_code=-32602 = 3",
            "mcp.method.name=_OTHER rpc.response.status_code=-32602 = 3",
        ]
    );
    let spans = kept.spans();
    let mut names: Vec<_> =
        spans.iter().filter(|span| span.span_kind == SpanKind::Server).map(|span| &*span.name).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["_OTHER", "tools/call", "tools/call real"]);
}

#[tokio::test(start_paused = true)]
async fn text_of_the_peer_is_cut_and_escaped() {
    let kept = kept(Config::new());
    let handler = Answers(async |_, _| Ok(json("{}")));
    let long = "a".repeat(TEXT_LIMIT + 1);
    observed(&kept, handler, async |peer| {
        call(&peer, "resources/read", &format!(r#"{{"uri":"{long}"}}"#)).await.unwrap();
        call(&peer, "tools/call", r#"{"name":"\u001b[2J"}"#).await.unwrap();
    })
    .await;
    let spans = kept.spans();
    let cut = format!("mcp.resource.uri={}…", &long[1..]);
    assert!(shown(&spans[0].attributes).contains(&cut));
    assert_eq!(spans[2].name, "tools/call ^[[2J");
}
