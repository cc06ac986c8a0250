//! What is shown, on its way out.
//!
//! A thread writes it, so that whoever reads it slowly does not hold up what the agent asks us meanwhile. When much waits
//! to be written we read no more from the agent; see `chat/pace.rs`.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::sync::Notify;

/// How many bytes may wait to be written before we read no more from the agent.
const ROOM: usize = 1 << 20;

/// Takes what is to be shown. Clones are the same outlet.
#[derive(Clone)]
pub(crate) struct Outlet(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    work: Condvar,
    news: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    writing: bool,
    /// While the terminal is in somebody's hands: how many bytes were to be shown before that, and are not written yet.
    held: Option<usize>,
    /// Why nothing can be written any more.
    failed: Option<io::Error>,
    /// Who waits for room.
    reader: Option<Waker>,
}

/// The terminal, in somebody's hands: what is to be shown waits until this is dropped.
pub(crate) struct Held(Outlet);

impl Outlet {
    pub(crate) fn new(out: impl Write + Send + 'static) -> Self {
        let state = Mutex::new(State::default());
        let shared = Arc::new(Shared { state, work: Condvar::new(), news: Notify::new() });
        let writer = shared.clone();
        // It ends with the process: nobody can be told to stop writing to a pipe that nobody reads.
        thread::spawn(move || write_out(&writer, out));
        Self(shared)
    }

    /// Lets nothing more be shown until what this gives is dropped. What was given before is still written.
    pub(crate) fn hold(&self) -> Held {
        let mut state = self.0.lock();
        state.held = Some(state.waiting.len());
        Held(self.clone())
    }

    /// Whether somebody holds it.
    pub(crate) fn is_held(&self) -> bool {
        self.0.lock().held.is_some()
    }

    /// How many bytes wait to be written.
    pub(crate) fn waiting(&self) -> usize {
        self.0.lock().waiting.len()
    }

    /// Waits until something is to be shown.
    pub(crate) async fn wanted(&self) {
        self.until(|state| (!state.waiting.is_empty()).then_some(())).await;
    }

    /// Waits until all that was given is written; while it is held, all that was given before.
    ///
    /// # Errors
    ///
    /// If it cannot be.
    pub(crate) async fn written(&self) -> io::Result<()> {
        self.until(|state| match &state.failed {
            Some(error) => Some(Err(again(error))),
            None => (state.writable() == 0 && !state.writing).then_some(Ok(())),
        })
        .await
    }

    /// Waits until something could not be written, because nobody reads what we print any more.
    pub(crate) async fn failed(&self) -> io::Error {
        self.until(|state| state.failed.as_ref().map(again)).await
    }

    /// Whether there is room for more.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.waiting.len() < ROOM {
            return Poll::Ready(());
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    async fn until<R>(&self, look: impl Fn(&State) -> Option<R>) -> R {
        loop {
            let mut news = std::pin::pin!(self.0.news.notified());
            news.as_mut().enable();
            let found = look(&self.0.lock());
            match found {
                Some(found) => return found,
                None => news.await,
            }
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        if let Some(error) = &state.failed {
            return Err(again(error));
        }
        state.waiting.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Begins to write.
    fn flush(&mut self) -> io::Result<()> {
        self.0.work.notify_one();
        self.0.news.notify_waiters();
        Ok(())
    }
}

impl Held {
    /// Takes the line away that the cursor stands in, before anything is shown that waits.
    pub(crate) fn clear_line(&self) {
        self.0.0.lock().waiting.splice(0..0, *b"\r\x1b[J");
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let shared = &self.0.0;
        shared.lock().held = None;
        shared.work.notify_one();
    }
}

impl State {
    /// How many of the bytes that wait may be written now.
    fn writable(&self) -> usize {
        self.held.unwrap_or(self.waiting.len())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_out(shared: &Shared, mut out: impl Write) {
    let mut state = shared.lock();
    loop {
        while state.writable() == 0 {
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let writable = state.writable();
        let held_back = state.waiting.split_off(writable);
        let piece = std::mem::replace(&mut state.waiting, held_back);
        state.held = state.held.map(|_| 0);
        state.writing = true;
        let reader = state.reader.take();
        drop(state);
        let outcome = out.write_all(&piece).and_then(|()| out.flush());
        // Only now: a reader that is slow would otherwise make two pieces of each.
        reader.into_iter().for_each(Waker::wake);
        state = shared.lock();
        state.writing = false;
        state.failed = outcome.err();
        let failed = state.failed.is_some();
        if failed {
            state.waiting = Vec::new();
            state.held = state.held.map(|_| 0);
            state.reader.take().into_iter().for_each(Waker::wake);
        }
        shared.news.notify_waiters();
        if failed {
            return;
        }
    }
}

/// The same error for somebody else.
fn again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::Waker;

    use super::*;

    /// A reader who takes a piece when we say so.
    struct Slow(mpsc::Receiver<()>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.recv() {
                Ok(()) => Ok(bytes.len()),
                Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn there_is_room_until_much_waits_and_again_when_it_is_written() {
        let (take, taken) = mpsc::channel();
        let mut outlet = Outlet::new(Slow(taken));
        let room = |outlet: &Outlet| outlet.poll_room(&mut Context::from_waker(Waker::noop())).is_ready();
        let held = outlet.hold();
        outlet.write_all(&vec![b'x'; ROOM - 1]).unwrap();
        assert!(room(&outlet));
        outlet.write_all(b"x").unwrap();
        assert!(!room(&outlet));
        drop(held);
        take.send(()).unwrap();
        outlet.written().await.unwrap();
        assert!(room(&outlet));
        // Nobody reads any more.
        drop(take);
        outlet.write_all(b"x").unwrap();
        outlet.flush().unwrap();
        assert_eq!(outlet.failed().await.kind(), io::ErrorKind::BrokenPipe);
        assert!(outlet.written().await.is_err() && outlet.write(b"x").is_err());
        assert!(room(&outlet), "who waits for room learns why there will be none");
    }

    #[tokio::test]
    async fn what_was_given_before_it_is_held_is_still_written() {
        let (read, write) = io::pipe().unwrap();
        let mut outlet = Outlet::new(write);
        outlet.write_all(b"question").unwrap();
        let held = outlet.hold();
        outlet.write_all(b"news").unwrap();
        outlet.flush().unwrap();
        outlet.written().await.unwrap();
        let mut shown = [0; 8];
        io::Read::read_exact(&mut &read, &mut shown).unwrap();
        assert_eq!((&shown, outlet.waiting()), (b"question", 4));
        drop(held);
        outlet.written().await.unwrap();
        io::Read::read_exact(&mut &read, &mut shown[..4]).unwrap();
        assert_eq!(&shown[..4], b"news");
    }

    #[tokio::test]
    async fn what_is_held_back_comes_behind_the_line_that_is_taken_away() {
        let (read, write) = io::pipe().unwrap();
        let mut outlet = Outlet::new(write);
        let held = outlet.hold();
        outlet.write_all(b"news").unwrap();
        outlet.flush().unwrap();
        outlet.wanted().await;
        assert!(outlet.is_held());
        held.clear_line();
        drop(held);
        outlet.written().await.unwrap();
        let mut shown = [0; 8];
        io::Read::read_exact(&mut { read }, &mut shown).unwrap();
        assert_eq!(&shown, b"\r\x1b[Jnews");
    }
}
