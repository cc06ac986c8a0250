//! Opens a URL for a person.

use std::fmt;
use std::future::pending;
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Uri;
use http::uri::Scheme;
use tokio::sync::oneshot;

use super::super::user_agent::LoginError;
use crate::address::is_loopback_host;

/// A program that fails within this time has opened nothing. Later it may be the browser itself that ends.
const FAILURE_PERIOD: Duration = Duration::from_secs(5);

/// The program that opens a URL.
#[derive(Clone)]
pub(super) enum Opener {
    System,
    Custom(Arc<Open>),
}

type Open = dyn Fn(&str) -> io::Result<()> + Send + Sync;

impl Opener {
    /// Opens a URL. Returns only if that fails.
    pub(super) async fn open(&self, url: String) -> io::Error {
        let failure = match self {
            Self::System => start(url).await,
            Self::Custom(open) => open(&url).err(),
        };
        match failure {
            Some(error) => error,
            None => pending().await,
        }
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Custom(_) => "Custom",
        })
    }
}

/// Returns the text of a URL that may be opened: `https`, or `http` on this machine, in plain characters.
pub(super) fn check(url: &Uri) -> Result<String, LoginError> {
    let refused = |why| Err(LoginError::Url { why });
    let (Some(scheme), Some(authority)) = (url.scheme(), url.authority()) else {
        return refused("it has no scheme or no host");
    };
    let allowed = *scheme == Scheme::HTTPS || (*scheme == Scheme::HTTP && is_loopback_host(authority.host()));
    if !allowed {
        return Err(LoginError::Scheme { scheme: scheme.to_string() });
    }
    if authority.as_str().contains('@') || authority.host().is_empty() {
        return refused("it has a user, a password or no host");
    }
    let text = url.to_string();
    if !text.bytes().all(is_plain) {
        return refused("it contains a character that cannot be part of a URL, or that a shell interprets");
    }
    Ok(text)
}

/// Whether a byte stands for itself in a URL, and in the scripts through which systems start a browser: `xdg-open` is one. A
/// URL can spell all others as `%XX`.
pub(super) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!&*+,;=%".contains(&byte)
}

/// Starts the system's browser, on a thread that waits for the program's end, so that no zombie stays. Returns why it failed
/// to open the URL, as far as that can be known.
async fn start(url: String) -> Option<io::Error> {
    let (failed, failure) = oneshot::channel();
    let run = move || {
        let mut command = command();
        let name = command.get_program().to_string_lossy().into_owned();
        if let Some(error) = run(command.arg(url), &name) {
            let _ = failed.send(error);
        }
    };
    match std::thread::Builder::new().name("browser".into()).spawn(run) {
        Ok(_) => failure.await.ok(),
        Err(error) => Some(error),
    }
}

/// Runs a program to its end. Returns why it failed.
fn run(command: &mut Command, name: &str) -> Option<io::Error> {
    let began = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // In a process group of its own, so that an interrupt at the terminal does not end the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let ended = command.spawn().and_then(|mut child| child.wait());
    match ended {
        Ok(status) if !is_failure(status) || began.elapsed() > FAILURE_PERIOD => None,
        Ok(status) => Some(io::Error::other(format!("`{name}` failed with {status}"))),
        Err(error) => Some(io::Error::new(error.kind(), format!("`{name}` cannot be started: {error}"))),
    }
}

/// The status of `rundll32` has no meaning.
fn is_failure(status: ExitStatus) -> bool {
    !cfg!(windows) && !status.success()
}

/// The program that opens a URL, which is its last argument. No shell reads it.
fn command() -> Command {
    if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Option<io::Error> {
        run(Command::new("sh").args(["-c", script]), "sh")
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_fails_at_once_is_reported() {
        assert!(sh("exit 0").is_none());
        assert_eq!(sh("exit 3").unwrap().to_string(), "`sh` failed with exit status: 3");
        let missing = run(&mut Command::new("/no/such/program"), "it").unwrap();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(missing.to_string().starts_with("`it` cannot be started: "), "{missing}");
    }

    #[test]
    fn the_url_is_one_argument() {
        let mut command = command();
        let before = command.get_args().count();
        command.arg("https://as.example/a?b=c&d=%20e");
        assert_eq!(command.get_args().count(), before + 1);
    }
}
