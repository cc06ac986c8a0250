//! Histograms, counters and gauges.

use std::time::Duration;

use agentwire_jsonrpc::ErrorObject;
use agentwire_otel::{Config, DURATION_BOUNDARIES, Network};
use agentwire_peer::RequestContext;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};

use crate::support::{Answers, call, connected, json, kept, method_not_found, observed};

#[tokio::test(start_paused = true)]
async fn durations_have_the_boundaries_of_the_conventions() {
    let kept = kept(Config::new());
    let handler = Answers(async |_, _: RequestContext| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Ok(json("{}"))
    });
    observed(&kept, handler, async |peer| call(&peer, "ping", "{}").await.unwrap()).await;
    for name in [
        "mcp.client.operation.duration",
        "mcp.server.operation.duration",
        "mcp.client.session.duration",
        "mcp.server.session.duration",
    ] {
        kept.metric(name, |unit, data| {
            let AggregatedMetrics::F64(MetricData::Histogram(data)) = data else { panic!("{data:?}") };
            let points: Vec<_> = data.data_points().collect();
            let [point] = &*points else { panic!("{points:?}") };
            assert_eq!(unit, "s");
            assert_eq!(point.bounds().collect::<Vec<_>>(), DURATION_BOUNDARIES);
            // Three seconds, between 2 and 5.
            assert_eq!(point.bucket_counts().nth(8), Some(1));
            assert!((3.0..3.1).contains(&point.sum()), "{name}");
        });
    }
}

#[tokio::test(start_paused = true)]
async fn operations_have_a_bounded_set_of_attributes() {
    let kept = kept(Config::new());
    let client = kept.telemetry.mcp_client().network(Network::pipe());
    let server = kept.telemetry.mcp_server();
    let refuse = Answers(async |request, _| method_not_found(&request));
    let handler = Answers(async |request: agentwire_jsonrpc::Request, _| match &*request.method {
        "tools/call" => Ok(json(r#"{"isError":true}"#)),
        "resources/read" => Err(ErrorObject::new(-32002, "no")),
        _ => Ok(json("{}")),
    });
    connected(client, server, refuse, handler, async |peer| {
        for _ in 0..2 {
            call(&peer, "tools/call", r#"{"name":"a","arguments":{}}"#).await.unwrap();
        }
        call(&peer, "resources/read", r#"{"uri":"file:///secret"}"#).await.unwrap_err();
    })
    .await;
    assert_eq!(
        kept.points("mcp.client.operation.duration"),
        [
            "error.type=-32002 mcp.method.name=resources/read network.transport=pipe rpc.response.status_code=-32002 = 1",
            "error.type=tool_error gen_ai.operation.name=execute_tool gen_ai.tool.name=a mcp.method.name=tools/call \
             network.transport=pipe = 2",
        ]
    );
    assert_eq!(kept.points("mcp.client.session.duration"), ["network.transport=pipe = 1"]);
    assert_eq!(kept.points("mcp.server.session.duration"), [" = 1"]);
    assert_eq!(kept.points("acp.client.operation.duration"), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn active_calls_are_counted() {
    let kept = kept(Config::new());
    let handler = Answers(async |_, _: RequestContext| {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(json("{}"))
    });
    observed(&kept, handler, async |peer| {
        let looking = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let of = |direction| format!("agentwire.direction={direction} agentwire.protocol=mcp = 1");
            assert_eq!(kept.points("agentwire.calls.active"), [of("in"), of("out")]);
            let of = |role| format!("agentwire.protocol=mcp agentwire.role={role} = 1");
            assert_eq!(kept.points("agentwire.connections.active"), [of("client"), of("server")]);
        };
        futures::join!(call(&peer, "ping", "{}"), looking).0.unwrap();
    })
    .await;
    let none = |points: Vec<String>| points.iter().all(|point| point.ends_with(" = 0")) && !points.is_empty();
    assert!(none(kept.points("agentwire.calls.active")));
    assert!(none(kept.points("agentwire.connections.active")));
    assert!(none(kept.points("agentwire.send_queue.size")));
    let io = kept.points("agentwire.io");
    assert_eq!(io.len(), 2, "{io:?}");
    assert!(!none(io));
}
