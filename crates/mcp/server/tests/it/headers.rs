//! Arguments that are repeated in headers.

use std::borrow::Cow;
use std::sync::Arc;

use agentwire_jsonrpc::Frame;
use agentwire_mcp_server::schema::{JsonSchema, Tool};
use agentwire_mcp_server::{Context, MessageSource, Server, ServerTool};
use agentwire_test_support::net;
use agentwire_transport::Packet;
use agentwire_transport_http::server::{Endpoint, EndpointConfig, serve};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::raw::{MODERN, NEWEST, Raw, alone, with_raw, with_session};

/// The source of a request in these tests.
#[derive(Debug)]
struct Headers(Vec<(&'static str, &'static str)>);

impl MessageSource for Headers {
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let found = self.0.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| Cow::Borrowed(value.as_bytes()))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    sql: String,
}

/// `execute_sql` has a mark that its type makes, `any` those of a definition, and looks at nothing.
fn server() -> Server {
    let execute = async |Query { region, sql }: Query, _cx: Context| format!("{region}: {sql}");
    let schema = json!({ "type": "object", "properties": {
        "text": { "type": "string", "x-mcp-header": "Text" },
        "number": { "type": "integer", "x-mcp-header": "NUMBER" },
        "flag": { "type": "boolean", "x-mcp-header": "Flag" },
        "deep": { "type": "object", "properties": { "er": { "type": "string", "x-mcp-header": "Deeper" } } },
        "plain": { "type": "string" },
    }});
    let any = Tool::new("any", JsonSchema::try_from(schema).unwrap());
    Server::new("database", "1")
        .tool("execute_sql", "Run a query", execute)
        .with_tool(ServerTool::from_definition(any, async || "done"))
}

/// Calls `any`, which came with these headers, and gives the code of the error, if it is one.
async fn call(raw: &mut Raw, arguments: &Value, headers: &[(&'static str, &'static str)]) -> Option<i64> {
    let mut all = vec![("MCP-Protocol-Version", MODERN)];
    all.extend(headers);
    let answer = ask(raw, alone(json!({ "name": "any", "arguments": arguments })), all).await;
    answer["error"]["code"].as_i64()
}

async fn ask(raw: &mut Raw, params: Value, headers: Vec<(&'static str, &'static str)>) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let source: Arc<dyn MessageSource> = Arc::new(Headers(headers));
    let frame = Frame::parse(request.to_string().into());
    raw.give(Packet::Frame { frame, in_reply_to: None, source: Some(source) }).await;
    raw.next().await
}

#[tokio::test(start_paused = true)]
async fn st_19_headers_that_say_what_the_arguments_say_are_taken() {
    with_raw(&server(), async |raw| {
        for (arguments, headers) in [
            (json!({}), vec![]),
            (json!({ "text": null, "deep": {}, "plain": "not marked" }), vec![]),
            (json!({ "text": "eu" }), vec![("mcp-param-text", "eu")]),
            (json!({ "text": "eu" }), vec![("Mcp-Param-TEXT", "eu"), ("Mcp-Param-Other", "unknown")]),
            (json!({ "text": "Hello" }), vec![("Mcp-Param-Text", "=?base64?SGVsbG8=?=")]),
            (json!({ "text": "Hello, 世界" }), vec![("Mcp-Param-Text", "=?base64?SGVsbG8sIOS4lueVjA==?=")]),
            // Literally so.
            (json!({ "text": "SGVsbG8=" }), vec![("Mcp-Param-Text", "SGVsbG8=")]),
            (json!({ "text": "=?base64?SGVsbG8=" }), vec![("Mcp-Param-Text", "=?base64?SGVsbG8=")]),
            (json!({ "text": "" }), vec![("Mcp-Param-Text", "")]),
            (json!({ "number": -7 }), vec![("Mcp-Param-Number", "-7")]),
            (json!({ "flag": false }), vec![("Mcp-Param-Flag", "false")]),
            (json!({ "deep": { "er": "x" } }), vec![("Mcp-Param-Deeper", "x")]),
            (
                json!({ "text": "a", "number": 42 }),
                vec![("Mcp-Param-Number", "42.0"), ("Mcp-Param-Text", "a")],
            ),
        ] {
            assert_eq!(call(raw, &arguments, &headers).await, None, "{arguments} {headers:?}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_19_headers_that_do_not_are_refused() {
    with_raw(&server(), async |raw| {
        for (arguments, headers) in [
            // Missing.
            (json!({ "text": "eu" }), vec![]),
            (json!({ "text": "" }), vec![]),
            (json!({ "deep": { "er": "x" } }), vec![("Mcp-Param-Er", "x")]),
            (json!({ "text": "eu", "number": 1 }), vec![("Mcp-Param-Text", "eu")]),
            (json!({ "text": ["eu"] }), vec![]),
            // Something else.
            (json!({ "text": "eu" }), vec![("Mcp-Param-Text", "us")]),
            (json!({ "text": "eu" }), vec![("Mcp-Param-Text", "EU")]),
            (json!({ "text": "eu" }), vec![("Mcp-Param-Text", "eu, eu")]),
            (json!({ "number": 42 }), vec![("Mcp-Param-Number", "43")]),
            (json!({ "number": 9007199254740993_u64 }), vec![("Mcp-Param-Number", "9007199254740993")]),
            (json!({ "flag": true }), vec![("Mcp-Param-Flag", "TRUE")]),
            (json!({ "text": ["eu"] }), vec![("Mcp-Param-Text", "eu")]),
            (json!({ "deep": { "er": "x" } }), vec![("Mcp-Param-Deeper", "y")]),
            // Not encoded as it must be.
            (json!({ "text": "Hello" }), vec![("Mcp-Param-Text", "=?base64?SGVsbG8?=")]),
            (json!({ "text": "Hello" }), vec![("Mcp-Param-Text", "=?base64?SGVs!!!bG8=?=")]),
            (json!({ "text": "世" }), vec![("Mcp-Param-Text", "世")]),
            (json!({ "text": "\u{fffd}" }), vec![("Mcp-Param-Text", "=?base64?/w==?=")]),
            // Of what is not there.
            (json!({}), vec![("Mcp-Param-Text", "eu")]),
            (json!({}), vec![("Mcp-Param-Text", "")]),
            (json!({ "text": null }), vec![("Mcp-Param-Text", "null")]),
            (json!({ "deep": "x" }), vec![("Mcp-Param-Deeper", "x")]),
            (json!({ "deep": { "er": null } }), vec![("Mcp-Param-Deeper", "null")]),
        ] {
            assert_eq!(call(raw, &arguments, &headers).await, Some(-32020), "{arguments} {headers:?}");
        }
        // Of two members of one name the last is worked on, so that is the one to look at.
        let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"any",
            "arguments":{"text":"eu","text":"us"},"_meta":META}}"#;
        let twice = twice.replace("META", &alone(json!({}))["_meta"].to_string());
        let source: Arc<dyn MessageSource> =
            Arc::new(Headers(vec![("MCP-Protocol-Version", MODERN), ("Mcp-Param-Text", "eu")]));
        raw.give(Packet::Frame {
            frame: Frame::parse(twice.into()),
            in_reply_to: None,
            source: Some(source),
        })
        .await;
        assert_eq!(raw.next().await["error"]["code"], -32020);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn without_headers_that_repeat_there_is_nothing_to_compare() {
    let params = json!({ "name": "any", "arguments": { "text": "eu" } });
    with_raw(&server(), async |raw| {
        // Over stdio, and over whatever has headers that mean something else.
        raw.result_of("tools/call", alone(params.clone())).await;
        let answer = ask(raw, alone(params.clone()), vec![("Mcp-Param-Text", "us")]).await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    })
    .await;
    with_session(&server(), NEWEST, async |raw| {
        let headers = vec![("MCP-Protocol-Version", NEWEST), ("Mcp-Param-Text", "us")];
        let answer = ask(raw, params, headers).await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    })
    .await;
}

#[tokio::test]
async fn st_19_over_http_the_status_is_400() {
    let server = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = Endpoint::serving(EndpointConfig::new(), server);
    let serving = tokio::spawn(async move { serve(listener, endpoint).await });
    for (marks, status, answer) in [
        (&[("Mcp-Param-Region", "eu")][..], 200, "\"eu: 1\""),
        (&[("mcp-param-region", "=?base64?ZXU=?=")], 200, "\"eu: 1\""),
        (&[("Mcp-Param-Region", "us")], 400, "-32020"),
        (&[("Mcp-Param-Region", "=?base64?ZXU?=")], 400, "-32020"),
        (&[("Mcp-Param-Region", "eu"), ("Mcp-Param-Region", "us")], 400, "-32020"),
        (&[], 400, "-32020"),
    ] {
        let arguments = json!({ "region": "eu", "sql": "1" });
        let params = alone(json!({ "name": "execute_sql", "arguments": arguments }));
        let body =
            json!({ "jsonrpc": "2.0", "id": "q", "method": "tools/call", "params": params }).to_string();
        let usual =
            [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "execute_sql")];
        let mut raw = net::Raw::mcp(address.port()).await;
        let (head, response) = raw.exchange("POST", &[&usual, marks].concat(), &body).await;
        assert_eq!(head.status, status, "{marks:?}: {response}");
        assert!(response.contains(answer) && response.contains(r#""id":"q""#), "{marks:?}: {response}");
    }
    serving.abort();
}

#[test]
#[should_panic(
    expected = "the tool `t`: `x-mcp-header` at `/properties/a` is on a property that is not a string"
)]
fn a_wrong_mark_is_found_when_the_tool_is_registered() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Wrong {
        #[schemars(extend("x-mcp-header" = "A"))]
        #[expect(dead_code, reason = "it never gets that far")]
        a: f64,
    }
    let _never = Server::new("s", "1").tool("t", "T", async |_: Wrong, _cx| ());
}
