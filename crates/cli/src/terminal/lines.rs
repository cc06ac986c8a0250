//! Lines of a terminal that edits them itself: `TERM=dumb`.

use std::io;
use std::sync::OnceLock;
use std::thread;

use tokio::sync::{Mutex, mpsc};

/// How many lines are read ahead.
const LINES_AHEAD: usize = 16;

/// A line without its end. None at the end of stdin.
type Line = io::Result<Option<String>>;

/// The lines that the only reader of stdin has read. A reader for each question would lose lines: one that waits cannot be
/// stopped.
static LINES: OnceLock<Mutex<mpsc::Receiver<Line>>> = OnceLock::new();

fn lines() -> &'static Mutex<mpsc::Receiver<Line>> {
    LINES.get_or_init(|| {
        let (sender, receiver) = mpsc::channel(LINES_AHEAD);
        thread::spawn(move || {
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
        });
        Mutex::new(receiver)
    })
}

/// The next line. None at the end of stdin.
pub(crate) async fn next_line() -> Line {
    lines().lock().await.recv().await.unwrap_or(Ok(None))
}

/// Drops the lines that were typed before.
pub(super) async fn drop_lines() {
    let mut lines = lines().lock().await;
    while lines.try_recv().is_ok() {}
}
