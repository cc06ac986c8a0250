//! Lines of a terminal that edits them itself: `TERM=dumb`.

use std::io;
use std::sync::OnceLock;
use std::thread;

use tokio::sync::{Mutex, mpsc};

/// How many lines are read ahead.
const LINES_AHEAD: usize = 16;

/// A line without its end. None at the end of stdin.
type Line = io::Result<Option<String>>;

/// The only reader of lines from stdin. A reader for each question would lose lines: one that waits cannot be stopped.
#[derive(Default)]
pub(super) struct LineReader {
    /// The lines that were read. The thread that reads them begins with the first use.
    lines: OnceLock<Mutex<mpsc::Receiver<Line>>>,
}

impl LineReader {
    /// The next line. None at the end of stdin.
    pub(super) async fn next(&self) -> Line {
        self.lines().lock().await.recv().await.unwrap_or(Ok(None))
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
