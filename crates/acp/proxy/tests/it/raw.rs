//! An end that writes and reads lines of text and knows none of our types, so that it cannot share their mistakes.

use std::future::Future;
use std::time::Duration;

use agentwire_acp_proxy::{Proxy, ProxyError, Transport, relay};
use agentwire_transport::lines;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// How long an end waits for a line, and how long silence must last; on a clock that is paused.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many bytes a wire holds in each direction.
pub(crate) const WIRE: usize = 16 << 10;

pub(crate) struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

/// A transport, and what the test plays at the other end of it.
pub(crate) fn wire() -> (impl Transport + Send + 'static, Raw) {
    let (near, far) = duplex(WIRE);
    let (read, write) = split(near);
    let transport = lines(read.compat(), write.compat_write());
    let (read, write) = split(far);
    (transport, Raw { lines: BufReader::new(read).lines(), write })
}

/// Runs a test on a clock that is paused.
pub(crate) fn play(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(LocalSet::new().run_until(test));
}

/// A client and an agent with a proxy between them, and how that ends.
pub(crate) fn relayed(proxy: impl Proxy + 'static) -> (Raw, Raw, JoinHandle<Result<(), ProxyError>>) {
    let (client, raw_client) = wire();
    let (agent, raw_agent) = wire();
    (raw_client, raw_agent, spawn_local(relay(proxy, client, agent)))
}

impl Raw {
    pub(crate) async fn say(&mut self, text: &str) {
        // A missing reader is noticed by the side that expects an answer.
        let _written = self.write.write_all(format!("{text}\n").as_bytes()).await;
    }

    /// The next line. None at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        line.expect("a line, or the end").expect("a pipe in memory does not fail")
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let line = self.line().await.expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Expects a line, in which `$id` stands for any id. Gives that, as text.
    pub(crate) async fn expect(&mut self, text: &str) -> String {
        let line = self.line().await.unwrap_or_else(|| panic!("the end came in place of {text}"));
        let Some((before, after)) = text.split_once("$id") else {
            assert_eq!(line, text);
            return String::new();
        };
        let id = line.strip_prefix(before).and_then(|line| line.strip_suffix(after));
        id.unwrap_or_else(|| panic!("\n  expected {text}\n  came     {line}")).to_owned()
    }

    pub(crate) async fn expect_silence(&mut self) {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        assert!(line.is_err(), "expected silence, and {line:?} came");
    }

    pub(crate) async fn expect_end(&mut self) {
        assert_eq!(self.line().await, None);
    }

    /// Reads and drops everything before the end.
    pub(crate) async fn expect_end_after_all(&mut self) {
        while self.line().await.is_some() {}
    }

    /// Sends nothing more, and reads on.
    pub(crate) async fn finish(&mut self) {
        self.write.shutdown().await.expect("a pipe in memory does not fail");
    }

    /// Expects a request with a method, and answers it.
    pub(crate) async fn answer(&mut self, method: &str, result: &str) {
        let heard = self.hear().await;
        assert_eq!(heard["method"], method);
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, heard["id"])).await;
    }
}
