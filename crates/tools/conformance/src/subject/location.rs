//! Where a program under test is found: it is started, or it listens at a URL.

use std::time::Duration;

use tokio::sync::OnceCell;

use crate::link::process::Process;
use crate::link::processes::Processes;
use crate::subject::{CommandLine, Target};
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop};

/// How long a program that listens may take to say where.
const START_TIME: Duration = Duration::from_secs(60);

/// The location of a program. One that listens is started once and serves all checks.
pub(crate) struct Location {
    target: Target,
    headers: Vec<(String, String)>,
    /// Started once, also if that failed: a program that does not say its URL takes a minute to find out.
    listening: OnceCell<Outcome<(Process, String)>>,
}

impl Location {
    pub(crate) fn new(target: Target, headers: Vec<(String, String)>) -> Self {
        Self { target, headers, listening: OnceCell::new() }
    }

    /// Headers of each request over HTTP that the user gave.
    pub(crate) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Whether the suite starts the program.
    pub(crate) fn is_started(&self) -> bool {
        matches!(self.target, Target::Command(_))
    }

    /// The command of a program on stdio.
    pub(crate) fn command(&self) -> Outcome<&CommandLine> {
        match &self.target {
            Target::Command(command) => Ok(command),
            Target::Url(_) => Err(Stop::not_applicable("the program is reached by a URL")),
        }
    }

    /// The address of a program that listens, which begins with one of some schemes such as `http://`.
    pub(crate) async fn url(&self, schemes: &[&str], processes: &Processes) -> Outcome<String> {
        match &self.target {
            Target::Url(url) => Ok(url.clone()),
            Target::Command(command) => {
                let started =
                    self.listening.get_or_init(|| start_listening(command, schemes, processes)).await;
                started.as_ref().map(|(_, url)| url.clone()).map_err(Clone::clone)
            }
        }
    }
}

/// Starts a program that prints the URL at which it listens.
async fn start_listening(
    command: &CommandLine,
    schemes: &[&str],
    processes: &Processes,
) -> Outcome<(Process, String)> {
    let (process, mut lines) = Process::start_aside(command, (&Trace::new(), processes)).await?;
    let mut last = String::new();
    let told = async {
        while let Some(line) = lines.recv().await {
            if let Some(url) = url_in(&line, schemes) {
                return Some(url);
            }
            last = line;
        }
        None
    };
    match tokio::time::timeout(START_TIME, told).await {
        Ok(Some(url)) => {
            tokio::spawn(async move { while lines.recv().await.is_some() {} });
            Ok((process, url))
        }
        _ => {
            let printed =
                if last.is_empty() { String::new() } else { format!("; its last line is `{last}`") };
            Err(Stop::inconclusive(format!("`{command}` did not say a URL that it listens at{printed}")))
        }
    }
}

/// The first URL of one of the schemes in a line.
fn url_in(line: &str, schemes: &[&str]) -> Option<String> {
    let begin = schemes.iter().filter_map(|scheme| line.find(scheme)).min()?;
    let url = &line[begin..];
    let end = url.find(|char: char| char.is_whitespace() || "\"'<>`,;".contains(char)).unwrap_or(url.len());
    Some(url[..end].trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::url_in;

    #[test]
    fn the_first_url_of_a_scheme_is_found() {
        let line =
            "see https://example.com, listening on \"ws://127.0.0.1:1/acp\" and http://127.0.0.1:1/acp.";
        let found = |schemes: &[&str]| url_in(line, schemes);
        assert_eq!(found(&["http://"]).as_deref(), Some("http://127.0.0.1:1/acp"));
        assert_eq!(found(&["http://", "ws://"]).as_deref(), Some("ws://127.0.0.1:1/acp"));
        assert_eq!(found(&["wss://"]), None);
    }
}
