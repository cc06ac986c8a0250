//! Reads lines of a terminal that edits them itself: with `TERM=dumb`, and in a build without the feature `editor`.

use std::collections::VecDeque;
use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, timeout_at};

use super::modes::{drop_unread_input, is_dumb};

/// The most lines that are read ahead.
const LINES_AHEAD: usize = 16;

/// The most lines that are kept for the next prompts.
const LINES_KEPT: usize = 1000;

/// The time for which lines that were typed before a question are collected: 100 ms.
const FETCH_TIME: Duration = Duration::from_millis(100);

/// A line without its end. `None` at the end of stdin.
type Line = io::Result<Option<String>>;

/// The only reader of lines from stdin. A reader for each question would lose lines, because a waiting read cannot be stopped.
#[derive(Default)]
pub(super) struct LineReader {
    /// The lines that were read. The first use starts the reading thread.
    lines: OnceLock<Mutex<mpsc::Receiver<Line>>>,
    /// The lines that were typed before a question. They become the next prompts.
    before: agentwire_sync::Mutex<VecDeque<String>>,
}

impl LineReader {
    /// Whether questions read lines too: the terminal has no other mode, or the reading thread would take the keys of an answer.
    pub(super) fn reads_answers(&self) -> bool {
        is_dumb() || self.lines.get().is_some()
    }

    /// The next prompt. `None` at the end of stdin.
    pub(super) async fn next(&self) -> Line {
        let before = self.before.lock().pop_front();
        match before {
            Some(line) => Ok(Some(line)),
            None => self.answer().await,
        }
    }

    /// The next line that is read from stdin. `None` at the end of stdin.
    pub(super) async fn answer(&self) -> Line {
        self.lines().lock().await.recv().await.unwrap_or(Ok(None))
    }

    /// Keeps the lines that were typed before now for the next prompts, and drops an incomplete line. The thread may still be reading
    /// them, so this takes [`FETCH_TIME`].
    pub(super) async fn set_aside(&self) {
        let mut lines = self.lines().lock().await;
        let deadline = Instant::now() + FETCH_TIME;
        while let Ok(Some(Ok(Some(line)))) = timeout_at(deadline, lines.recv()).await {
            let mut before = self.before.lock();
            if before.len() < LINES_KEPT {
                before.push_back(line);
            }
        }
        drop_unread_input();
    }

    /// Drops the lines that were typed before.
    pub(super) async fn drop_typed(&self) {
        let mut lines = self.lines().lock().await;
        while lines.try_recv().is_ok() {}
    }

    fn lines(&self) -> &Mutex<mpsc::Receiver<Line>> {
        self.lines.get_or_init(|| {
            let (sender, receiver) = mpsc::channel(LINES_AHEAD);
            thread::spawn(move || read_lines(&sender));
            Mutex::new(receiver)
        })
    }
}

/// Reads lines until the end of stdin, or of the receiver. The thread ends with the process.
fn read_lines(sender: &mpsc::Sender<Line>) {
    loop {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        line.truncate(line.trim_end_matches(['\n', '\r']).len());
        let line = read.map(|count| (count > 0).then_some(line));
        let is_last = !matches!(line, Ok(Some(_)));
        if sender.blocking_send(line).is_err() || is_last {
            return;
        }
    }
}
