//! Reads our own stdin on a thread that ends with the process.
//!
//! A read of stdin may never return, and cannot be cancelled. A dropped runtime waits for its own threads, so a read on one
//! of them would keep the program from ending.

use std::io::{self, Read};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Condvar};
use std::task::{Context, Poll, Waker};
use std::thread;

use agentwire_sync::{Mutex, MutexGuard};
use futures::AsyncRead;

use crate::runtime::require_runtime;

/// The size of one read, in bytes.
const CHUNK: usize = 64 << 10;

/// Stdin as an [`AsyncRead`]. The thread reads only while a poll waits.
#[derive(Default)]
pub(crate) struct Stdin {
    slot: Arc<ReadSlot>,
    has_thread: bool,
}

/// Passes one read at a time between [`Stdin`] and its thread.
#[derive(Default)]
struct ReadSlot {
    state: Mutex<ReadState>,
    changed: Condvar,
}

#[derive(Default)]
enum ReadState {
    #[default]
    Idle,
    /// A read is requested, or runs.
    Requested(Waker),
    /// The bytes of a read, and how many of them have been taken.
    Filled(Vec<u8>, usize),
    Failed(io::Error),
    /// [`Stdin`] was dropped.
    Closed,
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        require_runtime()?;
        if buffer.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if !self.has_thread {
            let slot = self.slot.clone();
            thread::Builder::new().name("stdin".to_owned()).spawn(move || slot.serve(io::stdin()))?;
            self.has_thread = true;
        }
        self.slot.poll_read(cx, buffer)
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        *self.slot.lock() = ReadState::Closed;
        self.slot.changed.notify_one();
    }
}

impl ReadSlot {
    fn poll_read(&self, cx: &Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut state = self.lock();
        match mem::take(&mut *state) {
            ReadState::Filled(bytes, at) => {
                let count = buffer.len().min(bytes.len() - at);
                buffer[..count].copy_from_slice(&bytes[at..at + count]);
                if at + count < bytes.len() {
                    *state = ReadState::Filled(bytes, at + count);
                }
                Poll::Ready(Ok(count))
            }
            ReadState::Failed(error) => Poll::Ready(Err(error)),
            ReadState::Idle | ReadState::Requested(_) | ReadState::Closed => {
                *state = ReadState::Requested(cx.waker().clone());
                self.changed.notify_one();
                Poll::Pending
            }
        }
    }

    /// Runs on the thread: reads whenever that is requested, until [`Stdin`] is dropped.
    fn serve(&self, mut input: impl Read) {
        let mut buffer = vec![0; CHUNK];
        while self.wait_for_request() {
            let read = loop {
                match input.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            let mut state = self.lock();
            if let ReadState::Requested(waker) = mem::take(&mut *state) {
                *state = match read {
                    Ok(count) => ReadState::Filled(buffer[..count].to_vec(), 0),
                    Err(error) => ReadState::Failed(error),
                };
                drop(state);
                waker.wake();
            } else {
                // Only the drop of `Stdin` changes a requested read.
                return;
            }
        }
    }

    /// Blocks until a read is requested. False once [`Stdin`] is dropped.
    fn wait_for_request(&self) -> bool {
        let idle = |state: &mut ReadState| !matches!(state, ReadState::Requested(_) | ReadState::Closed);
        let state = self.changed.wait_while(self.lock(), idle).expect("no panic while it was held");
        matches!(*state, ReadState::Requested(_))
    }

    fn lock(&self) -> MutexGuard<'_, ReadState> {
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
    async fn lines_arrive_in_order() {
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
        let slot = stdin.slot.clone();
        let thread = thread::spawn(move || slot.serve(Script(script)));
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
