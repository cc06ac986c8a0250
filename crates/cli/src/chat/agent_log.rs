//! The agent's stderr: shown line by line, or appended to a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use agentwire_acp_client::{BoxError, CallError, Closed};
use agentwire_sync::Mutex;
use agentwire_transport::{Exited, TransportError};
use agentwire_transport_stdio::Stderr;

use crate::failure::Usage;
use crate::recording::{Recorder, record_stderr};
use crate::terminal::View;

/// How many of the lines that were shown last are kept. The transport keeps as many for its errors.
const LINES: usize = 20;

/// Where the lines of the agent's stderr go. Clones share everything.
#[derive(Clone)]
pub(super) struct AgentLog(Arc<Inner>);

struct Inner {
    /// None where the lines are shown.
    file: Option<Mutex<File>>,
    view: Arc<View>,
    recorder: Option<Recorder>,
    /// The lines that were shown last.
    shown: Mutex<VecDeque<String>>,
}

impl AgentLog {
    /// # Errors
    ///
    /// When the file cannot be opened.
    pub(super) fn new(
        path: Option<&Path>,
        view: Arc<View>,
        recorder: Option<Recorder>,
    ) -> Result<Self, Usage> {
        let open = |path: &Path| {
            let file = File::options().append(true).create(true).open(path);
            file.map(Mutex::new).map_err(|why| Usage(format!("--agent-log {}: {why}", path.display())))
        };
        let file = path.map(open).transpose()?;
        Ok(Self(Arc::new(Inner { file, view, recorder, shown: Mutex::default() })))
    }

    /// What the transport does with each line.
    pub(super) fn stderr(&self) -> Stderr {
        let log = self.clone();
        let show = self.0.view.diagnostics().stderr_of("agent");
        Stderr::Lines(Arc::new(move |line| {
            record_stderr(log.0.recorder.as_ref(), line);
            match &log.0.file {
                // A log that cannot be written does not end the conversation.
                Some(file) => drop(file.lock().write_all(format!("{line}\n").as_bytes())),
                None => {
                    log.remember(line);
                    show(line);
                }
            }
        }))
    }

    fn remember(&self, line: &str) {
        let mut shown = self.0.shown.lock();
        if shown.len() == LINES {
            shown.pop_front();
        }
        shown.push_back(line.to_owned());
    }

    /// The same error, without the last lines of stderr if these were shown already.
    pub(super) fn without_shown_lines(&self, error: BoxError) -> BoxError {
        let exited = match error.downcast_ref::<CallError>() {
            Some(call) => call.exited(),
            None => error.downcast_ref::<Closed>().and_then(Closed::exited),
        };
        let Some(exited) = exited.filter(|exited| self.has_shown(&exited.stderr)) else { return error };
        let quiet = Exited::new(&*exited.program, exited.status, "");
        let mut closed = Closed::default();
        closed.reason = Some(Arc::new(TransportError::other(quiet)));
        CallError::from(closed).into()
    }

    fn has_shown(&self, lines: &str) -> bool {
        let shown = self.0.shown.lock();
        let lines: Vec<_> = lines.lines().collect();
        lines.len() <= shown.len()
            && shown.iter().rev().zip(lines.iter().rev()).all(|(shown, line)| shown == line)
    }
}
