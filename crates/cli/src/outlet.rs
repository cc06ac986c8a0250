//! What is shown, on its way out.
//!
//! A thread writes it, so that whoever reads it slowly does not hold up what the agent asks us meanwhile. When much waits
//! to be written we read no more from the agent; see `chat/pace.rs`.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use tokio::sync::Notify;

/// How many bytes may wait to be written before we read no more from the agent.
const ROOM: usize = 1 << 20;

/// How much of what is [written later](Out::write_later) is passed on at once, in bytes.
const PASSED_ON: usize = 64 << 10;

/// Writes something when its turn comes.
pub(crate) type Later = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// Where something is shown.
pub(crate) trait Out: Write + Send {
    /// Has this written behind what was written before. It takes so many bytes of memory until then. What is long is
    /// kept as it came in and becomes bytes only here, piece by piece: on a terminal it may be four times as long.
    fn write_later(&mut self, bytes: usize, write: Later);
}

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
    waiting: VecDeque<Piece>,
    /// How many bytes of memory those take.
    weight: usize,
    /// How many the one takes that is being written.
    writing: Option<usize>,
    /// While the terminal is in somebody's hands: how many pieces were to be shown before that, and are not written yet.
    held: Option<usize>,
    /// Why nothing can be written any more.
    failed: Option<io::Error>,
    /// Who waits for room.
    reader: Option<Waker>,
}

/// What waits.
enum Piece {
    Bytes(Vec<u8>),
    Later(usize, Later),
}

impl Piece {
    fn weight(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Later(weight, _) => *weight,
        }
    }
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
        self.0.lock().weight
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
            None => (state.writable() == 0 && state.writing.is_none()).then_some(Ok(())),
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
        // What is large is not there twice: once as it is written, once as it comes in.
        if state.weight < ROOM && state.writing.is_none_or(|weight| weight < 2 * ROOM) {
            return Poll::Ready(());
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Waits until there is room for more.
    pub(crate) async fn room(&self) {
        std::future::poll_fn(|cx| self.poll_room(cx)).await;
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
        state.push(bytes);
        Ok(bytes.len())
    }

    /// Begins to write.
    fn flush(&mut self) -> io::Result<()> {
        self.0.work.notify_one();
        self.0.news.notify_waiters();
        Ok(())
    }
}

impl Out for Outlet {
    fn write_later(&mut self, bytes: usize, write: Later) {
        let mut state = self.0.lock();
        // Whoever shows something learns of a failure where it waits for that.
        if state.failed.is_none() {
            state.weight += bytes;
            state.waiting.push_back(Piece::Later(bytes, write));
        }
    }
}

impl Held {
    /// Takes the line away that the cursor stands in, before anything is shown that waits.
    pub(crate) fn clear_line(&self) {
        let line = b"\r\x1b[J".to_vec();
        let mut state = self.0.0.lock();
        state.weight += line.len();
        state.waiting.push_front(Piece::Bytes(line));
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
    /// How many of the pieces that wait may be written now.
    fn writable(&self) -> usize {
        self.held.unwrap_or(self.waiting.len())
    }

    /// Adds bytes to the last piece, or to a new one where that may be written before them.
    fn push(&mut self, bytes: &[u8]) {
        self.weight += bytes.len();
        let is_held_apart = self.held == Some(self.waiting.len());
        match self.waiting.back_mut() {
            Some(Piece::Bytes(last)) if !is_held_apart => last.extend_from_slice(bytes),
            _ => self.waiting.push_back(Piece::Bytes(bytes.to_vec())),
        }
    }

    /// Takes the first piece that may be written now, if there is one.
    fn take(&mut self) -> Option<Piece> {
        if self.writable() == 0 {
            return None;
        }
        let piece = self.waiting.pop_front()?;
        self.held = self.held.map(|held| held - 1);
        self.weight -= piece.weight();
        self.writing = Some(piece.weight());
        Some(piece)
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
        let Some(piece) = state.take() else {
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(state);
        let outcome = write_piece(&mut out, piece);
        state = shared.lock();
        state.writing = None;
        // Only now: a reader that is slow would otherwise make two pieces of each.
        let reader = state.reader.take();
        let failed = outcome.is_err();
        state.failed = outcome.err();
        let lost = if failed { std::mem::take(&mut state.waiting) } else { VecDeque::new() };
        if failed {
            state.weight = 0;
            state.held = state.held.map(|_| 0);
        }
        drop(state);
        drop(lost);
        reader.into_iter().for_each(Waker::wake);
        shared.news.notify_waiters();
        if failed {
            return;
        }
        state = shared.lock();
    }
}

fn write_piece(out: &mut impl Write, piece: Piece) -> io::Result<()> {
    match piece {
        Piece::Bytes(bytes) => out.write_all(&bytes)?,
        Piece::Later(_, write) => {
            let mut passed_on = BufWriter::with_capacity(PASSED_ON, &mut *out);
            write(&mut passed_on)?;
            passed_on.flush()?;
        }
    }
    out.flush()
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
    async fn what_is_written_later_keeps_its_place_and_holds_up_what_comes_in() {
        let (take, taken) = mpsc::channel();
        let mut outlet = Outlet::new(Slow(taken));
        let room = |outlet: &Outlet| outlet.poll_room(&mut Context::from_waker(Waker::noop())).is_ready();
        outlet.write_later(4 * ROOM, Box::new(|out| out.write_all(b"large")));
        outlet.flush().unwrap();
        // Also while it is being written.
        assert!(!room(&outlet));
        take.send(()).unwrap();
        outlet.written().await.unwrap();
        assert!(room(&outlet));

        let (mut read, write) = io::pipe().unwrap();
        let mut outlet = Outlet::new(write);
        outlet.write_all(b"one ").unwrap();
        outlet.write_later(3, Box::new(|out| out.write_all(b"two")));
        outlet.write_all(b" three").unwrap();
        assert_eq!(outlet.waiting(), 13);
        outlet.flush().unwrap();
        outlet.written().await.unwrap();
        let mut shown = [0; 13];
        io::Read::read_exact(&mut read, &mut shown).unwrap();
        assert_eq!(&shown, b"one two three");
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
