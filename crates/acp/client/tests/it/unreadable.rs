//! Answers that cannot be read, or belong to no call, over a stream of lines.

use std::time::Duration;

use agentwire_acp_client::{ConnectionError, connect};
use agentwire_transport::lines;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::recorder::{Recorder, greeting};

/// Returns the outcome of `initialize`, which the agent answers with these bytes, and the client's other events.
async fn initialized(answer: &[u8]) -> (Result<(), ConnectionError>, Vec<String>) {
    let client = Recorder::default();
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(near);
    let mut far = BufReader::new(far);
    let agent = async {
        let mut request = String::new();
        far.read_line(&mut request).await.unwrap();
        far.write_all(answer).await.unwrap();
        // The agent stays connected, so only its answer can end the call.
        std::future::pending::<()>().await;
    };
    let main =
        async |agent: agentwire_acp_client::AgentHandle| Ok(agent.initialize(greeting()).await.map(drop)?);
    let connected = connect(client.clone(), lines(read.compat(), write.compat_write()), main);
    let outcome = tokio::select! {
        outcome = tokio::time::timeout(Duration::from_secs(5), connected) => outcome.expect("it fails at once"),
        () = agent => unreachable!(),
    };
    (outcome, client.heard())
}

#[tokio::test(start_paused = true)]
async fn unreadable_answer_fails_its_call_at_once() {
    let answers: [(&[u8], &str); 10] = [
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":NaN}}\n", "expected value"),
        (b"{\"jsonrpc\":\"2.0\",\"result\":{\"a\":\"\xff\"},\"id\":1}\n", "not UTF-8"),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}]\n", "in an array"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"protocolVersion\":1}}\n", "is a string"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"cannot read\"}}\n", "cannot read"),
        (b"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"oops\"}}\n", "oops"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"protocolVersion\":1}}\n", "has no id"),
        (b"Content-Length: 58\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}", "Content-Length"),
        (b"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {\n    \"protocolVersion\": 1\n  }\n}\n", "must be one line"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"one\ntwo\"}}\n", "EOF"),
    ];
    for (answer, why) in answers {
        let (outcome, _) = initialized(answer).await;
        let error = format!("{:#}", outcome.unwrap_err());
        assert!(error.contains(why), "{}: {error}", String::from_utf8_lossy(answer));
    }
}

#[tokio::test(start_paused = true)]
async fn answer_under_a_number_with_a_fraction_of_zeros_is_taken() {
    let (outcome, _) =
        initialized(b"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":{\"protocolVersion\":1}}\n").await;
    outcome.unwrap();
}

#[tokio::test(start_paused = true)]
async fn answer_that_belongs_to_no_call_is_reported() {
    let stray = br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"late"}}
{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
"#;
    let (outcome, told) = initialized(stray).await;
    outcome.unwrap();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert!(told.contains("an error under the id 7, which no open call has: late"), "{told}");
}
