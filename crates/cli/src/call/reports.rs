//! What a server says while its tool runs, from where it is heard to where it is shown.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_mcp_client::TaskState;
use agentwire_mcp_client::schema::ProgressNotification;
use tokio::sync::mpsc;

use crate::output::{Member, print_json};
use crate::text::{self, Notes};

/// How many reports may wait to be shown, and how many bytes of their messages. What comes then is left out, and that is
/// said.
const COUNT_LIMIT: usize = 1024;
const BYTES_LIMIT: usize = 1 << 20;

/// How far a tool has come.
pub(super) enum Report {
    Progress(ProgressNotification),
    /// The same of one that the server runs as a task, on one line.
    Task(String),
    /// So many could not be shown.
    LeftOut(usize),
}

impl Report {
    pub(super) fn task(state: &TaskState) -> Self {
        let message = state.message.as_deref().map(text::one_line).map(|message| format!(": {message}"));
        Self::Task(format!("task {}{}", state.status, message.unwrap_or_default()))
    }

    /// Shows it, unless it is what was last said of the task: that may have changed in what nobody reads, such as a time.
    pub(super) fn show(self, stands: &mut Option<String>, notes: &Notes, json: bool) -> io::Result<()> {
        match self {
            Self::Progress(progress) if json => print_json(&Member("progress", &progress))?,
            Self::Progress(progress) => {
                let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                let message = progress.message.as_deref().unwrap_or_default();
                notes.add(&format!("{}{total} {message}", progress.progress));
            }
            Self::Task(now) => {
                if stands.as_ref() != Some(&now) {
                    notes.add(&now);
                    *stands = Some(now);
                }
            }
            Self::LeftOut(count) => {
                notes.add(&format!("[{count} reports of progress are left out here]"));
                if json {
                    print_json(&Member("progressLeftOut", &count))?;
                }
            }
        }
        Ok(())
    }

    /// How many bytes it may wait with.
    fn bytes(&self) -> usize {
        match self {
            Self::Progress(progress) => {
                let attached = progress.meta.as_ref().map_or(0, agentwire_acp_toolkit::memory_estimate);
                progress.message.as_deref().map_or(0, str::len).saturating_add(attached)
            }
            Self::Task(line) => line.len(),
            Self::LeftOut(_) => 0,
        }
    }
}

/// Where reports come from, and where they go.
pub(super) fn channel(json: bool) -> (Sender, Receiver) {
    let (sender, reports) = mpsc::channel(COUNT_LIMIT);
    let waiting = Arc::<Waiting>::default();
    (Sender { reports: sender, waiting: waiting.clone(), json }, Receiver { reports, waiting, next: None })
}

#[derive(Default)]
struct Waiting {
    bytes: AtomicUsize,
    left_out: AtomicUsize,
}

#[derive(Clone)]
pub(super) struct Sender {
    reports: mpsc::Sender<Report>,
    waiting: Arc<Waiting>,
    json: bool,
}

impl Sender {
    /// Adds a report, unless too much waits. People get one line of it, programs all of it.
    pub(super) fn add(&self, mut report: Report) {
        if let (Report::Progress(progress), false) = (&mut report, self.json) {
            progress.message = progress.message.as_deref().map(text::one_line);
            progress.meta = None;
        }
        let bytes = report.bytes();
        let has_room = self.waiting.bytes.load(Ordering::Relaxed).saturating_add(bytes) <= BYTES_LIMIT;
        if has_room && self.reports.try_send(report).is_ok() {
            self.waiting.bytes.fetch_add(bytes, Ordering::Relaxed);
        } else if self.waiting.left_out.fetch_add(1, Ordering::Relaxed) == 0 {
            // Where nothing else waits, this is what is shown. Where there is no room for it, much else does.
            let _full = self.reports.try_send(Report::LeftOut(0));
        }
    }
}

pub(super) struct Receiver {
    reports: mpsc::Receiver<Report>,
    waiting: Arc<Waiting>,
    /// What comes behind the word that something is left out.
    next: Option<Report>,
}

impl Receiver {
    /// The next one, when there is one. Dropping the future loses nothing.
    pub(super) async fn recv(&mut self) -> Option<Report> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        loop {
            let report = self.reports.recv().await?;
            self.waiting.bytes.fetch_sub(report.bytes(), Ordering::Relaxed);
            let is_report = !matches!(report, Report::LeftOut(_));
            match self.waiting.left_out.swap(0, Ordering::Relaxed) {
                0 if is_report => return Some(report),
                0 => {}
                count => {
                    self.next = is_report.then_some(report);
                    return Some(Report::LeftOut(count));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// What comes out: the length of each message, and how many are left out, in brackets.
    fn heard(reports: &mut Receiver) -> Vec<String> {
        let next = || reports.recv().now_or_never().flatten();
        std::iter::from_fn(next)
            .map(|report| match report {
                Report::Progress(progress) => progress.message.map_or(0, |message| message.len()).to_string(),
                Report::Task(line) => line,
                Report::LeftOut(count) => format!("[{count}]"),
            })
            .collect()
    }

    #[test]
    fn what_waits_is_bounded_and_what_is_left_out_is_counted() {
        let progress = |bytes: usize| {
            let mut progress = ProgressNotification::new("t", 1.0);
            progress.message = Some("x".repeat(bytes));
            Report::Progress(progress)
        };
        let (sender, mut reports) = channel(true);
        [10, BYTES_LIMIT, BYTES_LIMIT, 20].into_iter().for_each(|bytes| sender.add(progress(bytes)));
        assert_eq!(heard(&mut reports), ["[2]", "10", "20"]);
        sender.add(progress(BYTES_LIMIT + 1));
        assert_eq!(heard(&mut reports), ["[1]"], "also where nothing else comes");
        (0..COUNT_LIMIT + 5).for_each(|_| sender.add(progress(1)));
        let all = heard(&mut reports);
        assert_eq!((all.len(), &*all[0]), (COUNT_LIMIT + 1, "[5]"));
        sender.add(progress(BYTES_LIMIT));
        assert_eq!(heard(&mut reports), [BYTES_LIMIT.to_string()]);
        // People read a line of it.
        let (sender, mut reports) = channel(false);
        sender.add(progress(31 << 20));
        assert!(heard(&mut reports)[0].parse::<usize>().is_ok_and(|bytes| bytes < 20 << 10));
    }
}
