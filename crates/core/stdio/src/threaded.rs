//! Our own stdin and stdout on threads, for systems where they cannot be used without blocking. This crate's thread reads
//! stdin, and tokio's threads write stdout.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{AsyncRead, AsyncWrite};
use tokio::io::ReadBuf;

use crate::runtime::require_runtime;

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

#[cfg(any(not(all(target_os = "linux", feature = "nonblocking")), test))]
pub(crate) fn stdin() -> Reader {
    Box::new(crate::stdin::Stdin::default())
}

#[cfg(any(not(all(target_os = "linux", feature = "nonblocking")), test))]
pub(crate) fn stdout() -> Writer {
    Box::new(Adapted(tokio::io::stdout()))
}

#[cfg(not(all(target_os = "linux", feature = "nonblocking")))]
pub(crate) fn stderr() -> Writer {
    Box::new(Adapted(tokio::io::stderr()))
}

/// Gives a reader or writer of tokio the traits of `futures`.
#[cfg_attr(
    all(target_os = "linux", feature = "nonblocking", not(test)),
    allow(dead_code, reason = "only descriptors are used there")
)]
pub(crate) struct Adapted<T>(pub(crate) T);

impl<T: tokio::io::AsyncRead + Unpin> AsyncRead for Adapted<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        require_runtime()?;
        let mut buffer = ReadBuf::new(buffer);
        ready!(Pin::new(&mut self.0).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<T: tokio::io::AsyncWrite + Unpin> AsyncWrite for Adapted<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        require_runtime()?;
        Pin::new(&mut self.0).poll_write(cx, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        require_runtime()?;
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        require_runtime()?;
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use futures::{FutureExt, SinkExt, StreamExt};

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
        // It stays open: `wait` would close it first.
        let mut stdin = program.stdin.take().unwrap();
        writeln!(stdin, "{line}").unwrap();
        let output = BufReader::new(program.stdout.take().unwrap());
        assert_eq!(output.lines().map_while(Result::ok).filter(|answer| answer.ends_with(line)).count(), 1);
        assert!(program.wait().unwrap().success());
        drop(stdin);
    }

    /// Acts as a program on another system. It ends while stdin is open and a thread reads it.
    fn echo() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut transport =
                agentwire_transport::lines(Input::from(super::stdin()), Output::from(super::stdout()));
            let packet = transport.next().await.unwrap().unwrap();
            transport.send(packet).await.unwrap();
            assert!(transport.next().now_or_never().is_none(), "no more comes");
        });
        // By then the thread is in its read. Nothing reports that.
        std::thread::sleep(std::time::Duration::from_millis(100));
        // As at the end of an asynchronous `main`.
        drop(runtime);
    }
}
