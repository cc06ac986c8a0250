//! Our own stdin and stdout on tokio's threads, for systems where they cannot be used without blocking.

use futures::{AsyncRead, AsyncWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

pub(crate) fn stdin() -> Reader {
    Box::new(tokio::io::stdin().compat())
}

pub(crate) fn stdout() -> Writer {
    Box::new(tokio::io::stdout().compat_write())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stderr() -> Writer {
    Box::new(tokio::io::stderr().compat_write())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use futures::{SinkExt, StreamExt};

    use crate::{Input, Output};

    /// Set in the program that the test starts, which is this very test once more.
    const ROLE: &str = "AGENTWIRE_TEST_ECHO";

    #[test]
    fn echoes_through_threads() {
        if std::env::var_os(ROLE).is_some() {
            return echo();
        }
        let mut program = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "threaded::tests::echoes_through_threads", "--nocapture", "--quiet"])
            .env(ROLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let line = r#"{"jsonrpc":"2.0","method":"hello"}"#;
        writeln!(program.stdin.as_mut().unwrap(), "{line}").unwrap();
        let output = BufReader::new(program.stdout.take().unwrap());
        assert_eq!(output.lines().map_while(Result::ok).filter(|answer| answer.ends_with(line)).count(), 1);
        assert!(program.wait().unwrap().success());
    }

    /// What a program on another system does.
    fn echo() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut transport =
                agentwire_transport::lines(Input::from(super::stdin()), Output::from(super::stdout()));
            let packet = transport.next().await.unwrap().unwrap();
            transport.send(packet).await.unwrap();
        });
        // The thread that reads stdin is still in its next read.
        runtime.shutdown_background();
    }
}
