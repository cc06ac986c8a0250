//! Text that is kept as it came costs its length, however much it would cost as a tree of values: `_meta`, raw input and output,
//! unknown updates, blocks and capabilities, at a client and an agent of ACP, and in MCP.

use std::fmt::Debug;
use std::future::Future;

use agentwire_acp_agent::{Agent, Context as AgentContext, serve};
use agentwire_acp_client::{Client, Config, Context, Error, connect_with};
use agentwire_acp_schema::v1::{
    InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse, PromptRequest,
    PromptResponse, ProtocolVersion, RequestPermissionRequest, RequestPermissionResponse,
    SessionNotification, SessionUpdate, StopReason,
};
use agentwire_acp_schema::v2;
use agentwire_cost_tests::{Cost, Meter};
use agentwire_jsonrpc::RawJson;
use agentwire_mcp_client::schema::{CallToolRequest, CallToolResult};
use agentwire_transport::{Packet, duplex};
use futures::{SinkExt, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How many bytes of memory a byte of a message may take, beside the message itself.
const MOST: f64 = 4.0;

/// 2 MiB that would take about 250 MiB as a tree of values.
fn tree() -> String {
    format!("[{}]", vec![r#"{"":0}"#; 1 << 18].join(","))
}

fn is_cheap(what: &str, text: &str, cost: Cost) {
    let peak = cost.peak_per_byte(text.len());
    assert!(peak < MOST, "{what}: {peak:.1} bytes for each byte of {:.60}…", text);
}

/// Decodes a message that has `@` where the tree is to stand, and writes it again.
fn decode<T: DeserializeOwned + Serialize + Debug>(meter: &Meter, what: &str, message: &str) {
    let text = message.replace('@', &tree());
    let raw = RawJson::parse(text.as_str().into()).expect("JSON");
    let (value, cost) = meter.measure(|| raw.decode::<T>().unwrap_or_else(|why| panic!("{what}: {why}")));
    is_cheap(what, &text, cost);
    assert_eq!(serde_json::to_string(&value).expect("it has a JSON form"), text, "{what}");
}

#[test]
fn messages_of_acp() {
    let meter = Meter::lock();
    let call = r#""sessionUpdate":"tool_call_update","toolCallId":"c""#;
    for (what, update) in [
        ("_meta", r#""sessionUpdate":"plan","entries":[],"_meta":{"k":@}"#.to_owned()),
        ("rawInput", format!(r#"{call},"rawInput":@"#)),
        ("rawOutput", format!(r#"{call},"rawOutput":{{"k":@}}"#)),
        ("an unknown product of a call", format!(r#"{call},"content":[{{"type":"x","k":@}}]"#)),
        ("an unknown update", r#""sessionUpdate":"x","k":@"#.to_owned()),
        ("an unknown update, its tag last", r#""k":@,"sessionUpdate":"x""#.to_owned()),
    ] {
        let text = format!(r#"{{"sessionId":"s","update":{{{update}}}}}"#);
        decode::<SessionNotification>(&meter, what, &text);
        if !update.contains("\"plan\"") {
            decode::<v2::UpdateSessionNotification>(&meter, what, &text);
        }
    }
    let prompt = |block: &str| format!(r#"{{"sessionId":"s","prompt":[{block}]}}"#);
    for block in
        [r#"{"type":"text","text":"t","_meta":{"k":@}}"#, r#"{"type":"x","k":@}"#, r#"{"k":@,"type":"x"}"#]
    {
        decode::<PromptRequest>(&meter, "a prompt", &prompt(block));
        decode::<v2::PromptRequest>(&meter, "a prompt of version 2", &prompt(block));
    }
    let capabilities = r#"{"fs":{"readTextFile":false,"writeTextFile":false,"k":@},"terminal":false,"auth":{"terminal":false}}"#;
    let hello = format!(r#"{{"protocolVersion":1,"clientCapabilities":{capabilities}}}"#);
    decode::<InitializeRequest>(&meter, "unknown capabilities", &hello);
    let option = r#"{"sessionId":"s","configId":"c","type":"x","value":@}"#;
    decode::<v2::SetSessionConfigOptionRequest>(&meter, "an unknown option", option);
    let idle = r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"x","k":@}"#;
    decode::<v2::SessionUpdate>(&meter, "an unknown stop reason", idle);
}

#[test]
fn messages_of_mcp() {
    let meter = Meter::lock();
    decode::<CallToolRequest>(&meter, "_meta", r#"{"name":"n","_meta":{"k":@}}"#);
    decode::<CallToolResult>(&meter, "_meta of a result", r#"{"content":[],"_meta":{"k":@}}"#);
    decode::<CallToolResult>(&meter, "an unknown block", r#"{"content":[{"type":"x","k":@}]}"#);
    decode::<CallToolResult>(&meter, "an unknown block, its tag last", r#"{"content":[{"k":@,"type":"x"}]}"#);
}

/// Forwards the received updates.
struct Listener(tokio::sync::mpsc::UnboundedSender<SessionUpdate>);

impl Client for Listener {
    fn session_update(&self, notification: SessionNotification) {
        let _gone = self.0.send(notification.update);
    }

    async fn request_permission(
        &self,
        _: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        Ok(RequestPermissionResponse::cancelled())
    }
}

/// Runs on a runtime of its own.
fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(work)
}

#[test]
fn a_client_of_acp() {
    let meter = Meter::lock();
    for update in [
        r#"{"sessionUpdate":"x","k":@}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":@}"#,
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"t"},"_meta":{"k":@}}"#,
    ] {
        let update = update.replace('@', &tree());
        let (near, mut far) = duplex(1);
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
        );
        let packet = Packet::from_json(&text);
        let (told, mut updates) = tokio::sync::mpsc::unbounded_channel();
        // The limit is for what is decoded, and does not know yet what will be kept as text.
        let config = Config::new().value_limit(usize::MAX);
        let client = connect_with(Listener(told), near, config, async |_| Ok(updates.recv().await));
        let both = async { tokio::join!(client, far.send(packet)).0 };
        let (heard, cost) = meter.measure(|| run(both));
        assert!(heard.expect("the connection holds").is_some());
        is_cheap("a client", &update, cost);
    }
}

struct Subject;

impl Agent for Subject {
    async fn initialize(
        &self,
        request: InitializeRequest,
        _: AgentContext,
    ) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: AgentContext) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("s"))
    }

    async fn prompt(&self, _: PromptRequest, _: AgentContext) -> Result<PromptResponse, Error> {
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

#[test]
fn an_agent_of_acp() {
    let meter = Meter::lock();
    for (method, params) in [
        ("initialize", r#"{"protocolVersion":1,"clientCapabilities":{"k":@}}"#),
        ("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"x","k":@}]}"#),
        ("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"t","_meta":{"k":@}}]}"#),
        ("session/prompt", r#"{"sessionId":"s","prompt":[],"_meta":{"k":@}}"#),
    ] {
        let params = params.replace('@', &tree());
        let text = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{params}}}"#);
        let packet = Packet::from_json(&text);
        let (near, mut far) = duplex(1);
        let client = async {
            if method != "initialize" {
                let hello =
                    serde_json::to_string(&InitializeRequest::new(ProtocolVersion::V1)).expect("JSON");
                let hello = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{hello}}}"#);
                far.send(Packet::from_json(&hello)).await.expect("it is open");
                far.next().await.expect("an answer").expect("no fault");
            }
            far.send(packet).await.expect("it is open");
            let answer = far.next().await.expect("an answer").expect("no fault");
            drop(far);
            answer
        };
        let (answer, cost) = meter.measure(|| run(async { tokio::join!(serve(Subject, near), client).1 }));
        assert!(answer.into_json().expect("a message").contains(r#""id":2"#));
        is_cheap(method, &params, cost);
    }
}
