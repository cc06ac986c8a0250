//! How the process at the other end of a transport has ended.

use std::error::Error;
use std::fmt;
use std::process::ExitStatus;

use agentwire_jsonrpc::Printable;

use crate::chain;

/// The process at the other end of a transport ended although its stdin was still open.
///
/// A transport on a child process ends with a [`TransportError`](crate::TransportError) that wraps this.
/// [`TransportError::exited`](crate::TransportError::exited) and `Closed::exited` of a connection return it.
///
/// Its text names the program, the status and the last lines of stderr, with control characters escaped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exited {
    /// The program, as the command named it.
    pub program: String,
    /// The exit status. `None` if other code of this process waited for the child first.
    pub status: Option<ExitStatus>,
    /// The last lines of its stderr, as the process wrote them. `transport-stdio` keeps up to 20 lines and up to 8 KiB. Empty
    /// if the process wrote none or they were discarded.
    pub stderr: String,
}

impl Exited {
    /// Makes the error of a transport whose process has ended.
    pub fn new(program: impl Into<String>, status: Option<ExitStatus>, stderr: impl Into<String>) -> Self {
        Self { program: program.into(), status, stderr: stderr.into() }
    }

    /// Finds it in an error or among its [sources](Error::source), such as in the error of a call or of a handshake.
    ///
    /// ```
    /// use agentwire_transport::{Exited, TransportError};
    ///
    /// let error = TransportError::other(Exited::new("my-agent", None, "no API key"));
    /// let error: Box<dyn std::error::Error> = error.into();
    /// assert_eq!(Exited::of(&*error).map(|exited| &*exited.stderr), Some("no API key"));
    /// ```
    pub fn of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}

impl Error for Exited {}

impl fmt::Display for Exited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", Printable::new(&self.program))?;
        match self.status {
            Some(status) => write_status(status, f)?,
            None => f.write_str("ended")?,
        }
        match self.stderr.as_str() {
            "" => Ok(()),
            words => write!(f, "; its last words were: {}", Printable::new(words)),
        }
    }
}

fn write_status(status: ExitStatus, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        // The standard library's text has the name of the signal on this system: "signal: 9 (SIGKILL)".
        let text = status.to_string();
        let name = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name);
        return match name.filter(|name| name.starts_with("SIG")) {
            Some(name) => write!(f, "was killed by {name}"),
            None => write!(f, "was killed by signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => write!(f, "exited with status {code}"),
        None => write!(f, "ended: {status}"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn text_has_the_exit_status_and_the_escaped_stderr() {
        let text = |raw| Exited::new("my-agent", Some(ExitStatus::from_raw(raw)), "").to_string();
        assert_eq!(text(3 << 8), "`my-agent` exited with status 3");
        assert_eq!(text(9), "`my-agent` was killed by SIGKILL");
        assert_eq!(text(11 | 0x80), "`my-agent` was killed by SIGSEGV", "with a core dump");
        assert_eq!(text(64 | 0x80), "`my-agent` was killed by signal 64", "without a name");
        let noisy = Exited::new("my-agent", None, "\u{1b}[2Jgone");
        assert_eq!(
            noisy.to_string(),
            format!("`my-agent` ended; its last words were: {}", Printable::new("\u{1b}[2Jgone"))
        );
        assert!(!noisy.to_string().contains('\u{1b}'));
    }
}
