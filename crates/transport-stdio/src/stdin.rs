//! Our own stdin, read by a thread that nobody waits for.
//!
//! A read of stdin may never end, and cannot be taken back. A runtime waits for what its own threads do, and with it
//! the end of the program would; a thread that is not the runtime's just ends with the process.

use std::io::{self, Read};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Condvar};
use std::task::{Context, Poll, Waker};
use std::thread;

use agentwire_sync::{Mutex, MutexGuard};
use futures::AsyncRead;

/// How much is read at once.
const PIECE: usize = 64 << 10;

/// Reads when it is polled, and nothing ahead of that.
#[derive(Default)]
pub(crate) struct Stdin {
    desk: Arc<Desk>,
    has_thread: bool,
}

/// Where the reader asks its thread, and finds what was read.
#[derive(Default)]
struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    /// Something is to be read, or is being read.
    Asked(Waker),
    /// What was read, from a place on.
    Read(Vec<u8>, usize),
    Failed(io::Error),
    /// Nobody will ask any more.
    Gone,
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        crate::require_runtime()?;
        if buffer.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if !self.has_thread {
            let desk = self.desk.clone();
            thread::Builder::new().name("stdin".to_owned()).spawn(move || desk.serve(io::stdin()))?;
            self.has_thread = true;
        }
        self.desk.poll_read(cx, buffer)
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        *self.desk.lock() = State::Gone;
        self.desk.changed.notify_one();
    }
}

impl Desk {
    fn poll_read(&self, cx: &Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut state = self.lock();
        match mem::take(&mut *state) {
            State::Read(bytes, at) => {
                let count = buffer.len().min(bytes.len() - at);
                buffer[..count].copy_from_slice(&bytes[at..at + count]);
                if at + count < bytes.len() {
                    *state = State::Read(bytes, at + count);
                }
                Poll::Ready(Ok(count))
            }
            State::Failed(error) => Poll::Ready(Err(error)),
            State::Idle | State::Asked(_) | State::Gone => {
                *state = State::Asked(cx.waker().clone());
                self.changed.notify_one();
                Poll::Pending
            }
        }
    }

    /// Reads as often as it is asked to.
    fn serve(&self, mut input: impl Read) {
        let mut buffer = vec![0; PIECE];
        while self.is_asked() {
            let read = loop {
                match input.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            let mut state = self.lock();
            if let State::Asked(waker) = mem::take(&mut *state) {
                *state = match read {
                    Ok(count) => State::Read(buffer[..count].to_vec(), 0),
                    Err(error) => State::Failed(error),
                };
                drop(state);
                waker.wake();
            } else {
                // While it is asked only the end of the reader changes that.
                return;
            }
        }
    }

    /// Waits until there is something to do. False if there never will be.
    fn is_asked(&self) -> bool {
        let idle = |state: &mut State| !matches!(state, State::Asked(_) | State::Gone);
        let state = self.changed.wait_while(self.lock(), idle).expect("no panic while it was held");
        matches!(*state, State::Asked(_))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use futures::AsyncReadExt;

    use super::*;

    /// Piece by piece into a small buffer, then an error, then the end; and then the thread ends with its reader.
    #[tokio::test]
    async fn what_is_read_arrives_in_order() {
        struct Script(Vec<io::Result<Vec<u8>>>);
        impl Read for Script {
            fn read(&mut self, mut buffer: &mut [u8]) -> io::Result<usize> {
                buffer.write(&self.0.pop().unwrap_or_else(|| Ok(Vec::new()))?)
            }
        }
        let refused = || Err(io::ErrorKind::PermissionDenied.into());
        let again = || Err(io::ErrorKind::Interrupted.into());
        let script = vec![refused(), Ok(b"fgh".to_vec()), again(), Ok(b"abcde".to_vec())];
        let mut stdin = Stdin::default();
        stdin.has_thread = true;
        let desk = stdin.desk.clone();
        let thread = thread::spawn(move || desk.serve(Script(script)));
        let mut read = [0; 8];
        for expected in [&b"abc"[..], b"de", b"fgh"] {
            let count = stdin.read(&mut read[..3]).await.unwrap();
            assert_eq!(&read[..count], expected);
        }
        assert_eq!(stdin.read(&mut read).await.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        for _ in 0..2 {
            assert_eq!(stdin.read(&mut read).await.unwrap(), 0);
        }
        drop(stdin);
        thread.join().unwrap();
    }
}
