//! A bounded queue of the progress that a server reports while its tool runs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_mcp_client::TaskState;
use agentwire_mcp_client::schema::ProgressNotification;
use tokio::sync::mpsc;

use crate::output::text;
use crate::output::text::Notes;
use crate::output::{Member, print_json};

/// The most queued reports. Beyond that, reports are left out and counted.
const COUNT_LIMIT: usize = 1024;

/// The most bytes of queued reports' messages. Beyond that, reports are left out and counted.
const BYTES_LIMIT: usize = 1 << 20;

/// A report on a running call.
pub(super) enum Report {
    Progress(ProgressNotification),
    /// The status of the call's task, on one line.
    Task(String),
    /// The number of reports that were left out.
    LeftOut(usize),
}

impl Report {
    pub(super) fn task(state: &TaskState) -> Self {
        let message = state.message.as_deref().map(text::one_line).map(|message| format!(": {message}"));
        Self::Task(format!("task {}{}", state.status, message.unwrap_or_default()))
    }

    /// Shows the report. A task's line is shown unless it equals `task_line`, the last one: a change of the task may not show
    /// in it, such as one of a time.
    pub(super) fn show(self, task_line: &mut Option<String>, notes: &Notes, json: bool) -> io::Result<()> {
        match self {
            Self::Progress(progress) if json => print_json(&Member("progress", &progress))?,
            Self::Progress(progress) => {
                let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                let message = progress.message.as_deref().unwrap_or_default();
                notes.add(format!("{}{total} {message}", progress.progress).trim_end());
            }
            Self::Task(line) => {
                if task_line.as_ref() != Some(&line) {
                    notes.add(&line);
                    *task_line = Some(line);
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

    /// The memory that counts toward [`BYTES_LIMIT`].
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

/// The two ends of a queue of reports. `json` keeps whole reports; without it, only the line for people.
pub(super) fn channel(json: bool) -> (Sender, Receiver) {
    let (sender, reports) = mpsc::channel(COUNT_LIMIT);
    let backlog = Arc::<Backlog>::default();
    (Sender { reports: sender, backlog: backlog.clone(), json }, Receiver { reports, backlog, next: None })
}

/// The counters of both ends of a queue.
#[derive(Default)]
struct Backlog {
    bytes: AtomicUsize,
    left_out: AtomicUsize,
}

#[derive(Clone)]
pub(super) struct Sender {
    reports: mpsc::Sender<Report>,
    backlog: Arc<Backlog>,
    json: bool,
}

impl Sender {
    /// Queues a report, unless the queue is full.
    pub(super) fn add(&self, mut report: Report) {
        if let (Report::Progress(progress), false) = (&mut report, self.json) {
            progress.message = progress.message.as_deref().map(text::one_line);
            progress.meta = None;
        }
        let bytes = report.bytes();
        let has_room = self.backlog.bytes.load(Ordering::Relaxed).saturating_add(bytes) <= BYTES_LIMIT;
        if has_room && self.reports.try_send(report).is_ok() {
            self.backlog.bytes.fetch_add(bytes, Ordering::Relaxed);
        } else if self.backlog.left_out.fetch_add(1, Ordering::Relaxed) == 0 {
            // Wakes the receiver if the queue is empty. If the queue is full, the receiver is awake.
            let _full = self.reports.try_send(Report::LeftOut(0));
        }
    }
}

pub(super) struct Receiver {
    reports: mpsc::Receiver<Report>,
    backlog: Arc<Backlog>,
    /// The report after a `LeftOut`.
    next: Option<Report>,
}

impl Receiver {
    /// The next report. Dropping the future loses none.
    pub(super) async fn recv(&mut self) -> Option<Report> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        loop {
            let report = self.reports.recv().await?;
            self.backlog.bytes.fetch_sub(report.bytes(), Ordering::Relaxed);
            let is_report = !matches!(report, Report::LeftOut(_));
            match self.backlog.left_out.swap(0, Ordering::Relaxed) {
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
    use futures_util::FutureExt as _;

    use super::*;

    /// The length of each received message, and the count of those left out, in brackets.
    fn received(reports: &mut Receiver) -> Vec<String> {
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
    fn waiting_reports_are_bounded_and_omitted_ones_are_counted() {
        let progress = |bytes: usize| {
            let mut progress = ProgressNotification::new("t", 1.0);
            progress.message = Some("x".repeat(bytes));
            Report::Progress(progress)
        };
        let (sender, mut reports) = channel(true);
        [10, BYTES_LIMIT, BYTES_LIMIT, 20].into_iter().for_each(|bytes| sender.add(progress(bytes)));
        assert_eq!(received(&mut reports), ["[2]", "10", "20"]);
        sender.add(progress(BYTES_LIMIT + 1));
        assert_eq!(received(&mut reports), ["[1]"], "also where nothing else comes");
        (0..COUNT_LIMIT + 5).for_each(|_| sender.add(progress(1)));
        let all = received(&mut reports);
        assert_eq!((all.len(), &*all[0]), (COUNT_LIMIT + 1, "[5]"));
        sender.add(progress(BYTES_LIMIT));
        assert_eq!(received(&mut reports), [BYTES_LIMIT.to_string()]);
        // For people, a report is cut to a line.
        let (sender, mut reports) = channel(false);
        sender.add(progress(31 << 20));
        assert!(received(&mut reports)[0].parse::<usize>().is_ok_and(|bytes| bytes < 20 << 10));
    }
}
