//! Clients on other libraries, as programs that print a line for each call: its key and its outcome.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::history::{Count, History, Outcome};

/// How many clients each program is.
pub(crate) const CLIENTS: usize = 4;
/// The longest that a program may take to end.
const END_TIME: Duration = Duration::from_secs(60);

/// A program of clients.
#[derive(Debug)]
pub(crate) struct Peer {
    name: String,
    process: Child,
    reading: tokio::task::JoinHandle<()>,
}

impl Peer {
    /// Starts a program of this command line, whose last word is the mode.
    pub(crate) fn start(
        words: &str,
        number: usize,
        url: &str,
        folder: &Path,
        history: &Arc<History>,
    ) -> Result<Self> {
        let words: Vec<String> = serde_json::from_str(words).context("--peer takes a JSON array of words")?;
        let [program, arguments @ .., mode] = &words[..] else { anyhow::bail!("--peer names no program") };
        let prefix = format!("peer{number}-");
        let mut process = Command::new(program)
            .args(arguments)
            .args([url, "token-of-peer", &prefix, mode, &CLIENTS.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join(format!("peer-{number}.log")))?)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| program.clone())?;
        let mut lines = BufReader::new(process.stdout.take().context("its output is a pipe")?).lines();
        let history = history.clone();
        let reading = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                take(&line, &history);
            }
        });
        Ok(Self { name: arguments.last().unwrap_or(program).clone() + " " + mode, process, reading })
    }

    /// Ends it, once its last calls are answered.
    pub(crate) async fn finish(mut self) -> Result<()> {
        drop(self.process.stdin.take());
        let ended = timeout(END_TIME, self.process.wait()).await;
        let status = ended.with_context(|| format!("{} does not end within {END_TIME:?}", self.name))??;
        self.reading.await?;
        ensure!(status.success(), "{} ended with {status}", self.name);
        Ok(())
    }
}

/// Takes the line of a call.
fn take(line: &str, history: &History) {
    let mut words = line.splitn(3, ' ');
    let (Some(key), Some(outcome), why) = (words.next(), words.next(), words.next().unwrap_or_default())
    else {
        return history.violation(format!("a peer printed `{line}`"));
    };
    history.count(Count::OfPeers);
    match outcome {
        "done" => history.call(key, Outcome::Acknowledged, ""),
        "refused" => history.call(key, Outcome::Refused, why),
        "unknown" => history.call(key, Outcome::Unknown, why),
        "gone" => {
            history.lost(format!("{key}: the session of a peer is unknown: {why}"));
            history.call(key, Outcome::Unknown, why);
        }
        _ => history.violation(format!("a peer printed `{line}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_outcomes() {
        let history = History::default();
        for line in ["a done", "b refused 503", "c unknown closed"] {
            take(line, &history);
        }
        assert_eq!(history.violations(), [""; 0]);
        assert_eq!(
            [Count::Acknowledged, Count::Refused, Count::Unknown].map(|count| history.counted(count)),
            [1, 1, 1]
        );
        for line in ["d gone 404", "e wrong text", "Traceback"] {
            take(line, &history);
        }
        assert_eq!(history.violations().len(), 3);
    }
}
