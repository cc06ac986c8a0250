//! `--otlp`: what a collector receives of programs that work together.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::time::Duration;

use crate::collector::{Attributes, Collector, Span};
use crate::network::Server;
use crate::program::{Program, SOON};

/// The kinds of spans, as OTLP numbers them.
const SERVER: i32 = 2;
const CLIENT: i32 = 3;

/// The boundaries of the conventions' histograms, in seconds.
const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The longest that an unreachable collector holds up the end of a program, with what a busy machine adds.
const HELD_UP: Duration = Duration::from_secs(8);

/// The attributes without those that differ from run to run, which must be there.
fn lasting(span: &Span, changing: &[&str]) -> Attributes {
    let mut attributes = span.attributes.clone();
    for name in changing {
        assert!(attributes.remove(*name).is_some(), "{name} is not in {span:#?}");
    }
    attributes
}

fn table(rows: &[(&str, &str)]) -> Attributes {
    rows.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_chat_is_one_trace_over_three_processes() {
    let collector = Collector::start();
    let server = Server::start_with(&["--otlp", &collector.url]);
    let port = server.origin.rsplit_once(':').expect("it has a port").1.to_owned();
    let web = format!("web={}/mcp", server.origin);
    let prompt = "/call web__add {\"a\": 2, \"b\": 40}";
    let ended = Program::run(&["chat", "--otlp", &collector.url, "--yes", "--mcp", &web, prompt], SOON);
    ended.exits(0).prints("42");
    assert!(!ended.stderr.contains("warning"), "{ended}");
    server.end();
    let received = collector.received();

    // From the chat's prompt to the tool, each span is the child of the one before.
    let path = [
        received.span("agentwire-chat", "session/prompt", CLIENT),
        received.span("agentwire-agent", "session/prompt", SERVER),
        received.span("agentwire-agent", "tools/call add", CLIENT),
        received.span("agentwire-server", "tools/call add", SERVER),
    ];
    assert_eq!(path[0].parent, "");
    for pair in path.windows(2) {
        assert_eq!((&pair[1].trace, &pair[1].parent), (&pair[0].trace, &pair[0].id), "{pair:#?}");
    }

    // What the conventions name, and nothing else: no arguments and no results.
    let prompts = table(&[
        ("acp.method.name", "session/prompt"),
        ("acp.protocol.version", "1"),
        ("network.transport", "pipe"),
    ]);
    for prompt in &path[..2] {
        assert_eq!(lasting(prompt, &["acp.session.id", "jsonrpc.request.id"]), prompts);
    }
    let http = [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "add"),
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2026-07-28"),
        ("network.protocol.name", "http"),
        ("network.transport", "tcp"),
    ];
    assert_eq!(lasting(path[3], &["jsonrpc.request.id"]), table(&http));
    let mut client = table(&http);
    client.extend(table(&[("server.address", "127.0.0.1"), ("server.port", &port)]));
    assert_eq!(lasting(path[2], &["jsonrpc.request.id"]), client);

    // The metrics have the same attributes, without those of one request.
    for (service, name, attributes) in [
        ("agentwire-agent", "mcp.client.operation.duration", &client),
        ("agentwire-server", "mcp.server.operation.duration", &table(&http)),
        ("agentwire-chat", "acp.client.operation.duration", &prompts),
        ("agentwire-agent", "acp.server.operation.duration", &prompts),
    ] {
        let metric = received.metric(service, name);
        assert_eq!(metric.unit, "s");
        let point = metric.points.iter().find(|(of_point, ..)| of_point == attributes);
        let (_, count, bounds) = point.unwrap_or_else(|| panic!("{attributes:#?} is not in {metric:#?}"));
        assert_eq!((*count, &**bounds), (1, &BOUNDS[..]), "{metric:#?}");
    }
    let sessions = received.metric("agentwire-agent", "mcp.client.session.duration");
    assert_eq!((sessions.points.len(), sessions.points[0].1), (1, 1), "{sessions:#?}");
    let restarts = received.metric("agentwire-agent", "agentwire.child.restarts");
    assert_eq!(restarts.points, [(table(&[("agentwire.component", "mcp_hub")]), 0, Vec::new())]);
    let open = received.metric("agentwire-server", "agentwire.sessions.active");
    assert_eq!(open.points, [(table(&[("agentwire.component", "http")]), 0, Vec::new())]);
    // The last report is that of a server that ends.
    let ready = received.metric("agentwire-server", "agentwire.ready");
    assert_eq!(ready.points, [(table(&[("agentwire.component", "http")]), 0, Vec::new())]);

    assert_eq!(received.types.into_iter().collect::<Vec<_>>(), ["application/x-protobuf"]);
    let mut instances: Vec<_> =
        received.services.values().map(|service| &service["service.instance.id"]).collect();
    instances.sort();
    instances.dedup();
    assert_eq!(instances.len(), 3, "{:#?}", received.services);
}

#[test]
fn the_standard_variables_are_obeyed() {
    let collector = Collector::start();
    let server = Server::start();
    let url = format!("{}/mcp", server.origin);
    let run = |variables: &[(&str, &str)]| {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, OsStr::new(*value))).collect();
        let mut program = Program::start_with(&variables, &["call", &url, "echo", "message=hi"]);
        program.close_stdin();
        program.end(SOON)
    };
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url);
    run(&[endpoint, ("OTEL_SDK_DISABLED", "true")]).exits(0);
    let ended = run(&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
    ended.exits(0).reports("OTEL_EXPORTER_OTLP_PROTOCOL names another protocol than http/protobuf");
    let nothing = collector.received();
    assert!(nothing.spans.is_empty() && nothing.metrics.is_empty(), "{nothing:#?}");

    let resource = ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test");
    let ended = run(&[endpoint, ("OTEL_SERVICE_NAME", "mine"), resource, ("OTEL_METRICS_EXPORTER", "none")]);
    assert_eq!(ended.exits(0).stderr, "");
    let received = collector.received();
    assert_eq!(received.services["mine"]["deployment.environment.name"], "test");
    assert_eq!(received.span("mine", "tools/call echo", CLIENT).parent, "");
    assert!(received.metrics.is_empty(), "{received:#?}");

    // A program that is started within a trace goes on with it.
    let parent = ("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    run(&[endpoint, ("OTEL_SERVICE_NAME", "traced"), parent]).exits(0);
    let received = collector.received();
    let span = received.span("traced", "tools/call echo", CLIENT);
    assert_eq!((&*span.parent, &*span.trace), ("b7ad6b7169203331", "0af7651916cd43dd8448eb211c80319c"));
    server.end();
}

#[test]
fn a_collector_that_is_away_is_reported_once() {
    // Nothing listens there any more.
    let refusing =
        TcpListener::bind("127.0.0.1:0").expect("there are ports").local_addr().expect("it listens");
    // It takes connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let server = Server::start();
    let url = format!("{}/mcp", server.origin);
    for (address, why) in [
        (refusing, "Connection refused"),
        (silent.local_addr().expect("it listens"), "it has not answered in 2 s"),
    ] {
        let collector = format!("http://{address}");
        let ended = Program::run(&["call", "--otlp", &collector, &url, "echo", "message=hi"], SOON);
        assert_eq!(ended.exits(0).stdout, "hi\n");
        let expected = format!("warning: spans and metrics cannot be sent to {collector}: {why}");
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert!(lines.len() == 1 && lines[0].starts_with(&expected), "{ended}");
        assert!(ended.took < HELD_UP, "{ended}");
    }
    server.end();
}
