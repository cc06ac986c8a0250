//! Describes failures of an agent or a server in sentences that name it.

use std::error::Error;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Printable};
use agentwire_mcp_client::HandshakeError;
use agentwire_mcp_hub::ConnectError;
use agentwire_peer::{CallError, Closed};
use agentwire_transport::{Exited, TransportError};
use agentwire_transport_stdio::SpawnError;

use super::chain::{TEXT_LIMIT, causes, chain, of_type};
use super::errors::{ErrorWithHint, Failure, Overdue};
use super::http::{http_phrase, is_web_page, sse_phrase, web_page};
use super::side::{OtherSide, Role, SidePlace, program_name};
use crate::output::text::beginning;

/// The longest `data` of an error that is shown, in bytes.
const DATA_LIMIT: usize = 1 << 10;

/// A failure as a sentence. `None` if it is not a failure of the other side or of the connection to it. `is_connected` is whether
/// the other side has answered the first request.
pub(super) fn phrase(side: &OtherSide, is_connected: bool, error: &(dyn Error + 'static)) -> Option<String> {
    let phrase = Phrase { side, is_connected };
    // The context that a command has added stays before the sentence.
    let mut before = String::new();
    for cause in chain(error) {
        if let Some(sentence) = phrase.of(cause) {
            return Some(before + &sentence);
        }
        if !cause.is::<Failure>() && !cause.is::<ConnectError>() && !cause.is::<TransportError>() {
            before += &format!("{}: ", shown(cause));
        }
    }
    None
}

/// The sentence on an error in an answer.
pub(super) fn answered(error: &ErrorObject) -> String {
    match &error.data {
        Some(data) => {
            format!("{}; data: {}", shown(error), beginning(Printable::one_line(data.as_str()), DATA_LIMIT))
        }
        None => shown(error),
    }
}

/// The beginning of an error's text.
fn shown(error: impl Display) -> String {
    beginning(error, TEXT_LIMIT)
}

struct Phrase<'a> {
    side: &'a OtherSide,
    is_connected: bool,
}

impl Phrase<'_> {
    fn of(&self, cause: &(dyn Error + 'static)) -> Option<String> {
        of_type(cause, |error| self.connect(error))
            .or_else(|| of_type(cause, |error| Some(self.handshake(error))))
            .or_else(|| {
                of_type(cause, |error: &ErrorWithHint| {
                    Some(format!("{}; {}", self.call(error.error()), error.hint()))
                })
            })
            .or_else(|| of_type(cause, |error| Some(self.call(error))))
            .or_else(|| of_type(cause, |Overdue(limit)| Some(self.overdue(*limit))))
            .or_else(|| of_type(cause, |closed| Some(self.closed(closed))))
            .or_else(|| self.transport(cause))
    }

    fn overdue(&self, limit: Duration) -> String {
        self.with_text(format!("the {} did not answer within {limit:?}", self.side.role()))
    }

    fn connect(&self, error: &ConnectError) -> Option<String> {
        match (error, self.side.place()) {
            (ConnectError::Exhausted { attempts, .. }, SidePlace::Url(url)) => {
                let is_page = attempts.iter().any(|attempt| is_web_page(attempt.error.as_error()));
                is_page.then(|| web_page(url))
            }
            (ConnectError::Exhausted { .. }, SidePlace::Command(_)) => None,
            (error, _) => Some(shown(error)),
        }
    }

    fn handshake(&self, error: &HandshakeError) -> String {
        match error {
            HandshakeError::Call(call) => self.call(call),
            HandshakeError::RefusedBoth { initialize, .. } => self.call(initialize),
            other => shown(other),
        }
    }

    fn call(&self, error: &CallError) -> String {
        let role = self.side.role();
        match error {
            CallError::Closed(closed) => self.closed(closed),
            CallError::TimedOut { method, after, .. } => {
                self.with_text(format!("the {role} did not answer {method} within {after:?}"))
            }
            CallError::Failed { method, fault, .. } => self
                .transport_chain(&**fault)
                .unwrap_or_else(|| format!("{method}: {}", causes(fault.inner()))),
            CallError::Cancelled { method, .. } => format!("the {role} ended {method} without an answer"),
            CallError::Refused { method, error, .. } => {
                self.with_other_protocol(method, format!("the {role} refused {method}: {}", answered(error)))
            }
            CallError::Decode { method, why, .. } => {
                let text = format!("the {role}'s answer to {method} cannot be read: {}", shown(why));
                self.with_other_protocol(method, text)
            }
            other => shown(other),
        }
    }

    fn closed(&self, closed: &Closed) -> String {
        let role = self.side.role();
        let before = if self.is_connected { "" } else { " before it answered" };
        match &closed.reason {
            None => self.with_text(format!("the {role} closed the connection{before}")),
            Some(reason) => self.transport_chain(&**reason).unwrap_or_else(|| {
                format!("the connection to the {role} failed: {}", causes(reason.inner()))
            }),
        }
    }

    fn transport_chain(&self, error: &(dyn Error + 'static)) -> Option<String> {
        chain(error).find_map(|cause| self.transport(cause))
    }

    /// A failure of a transport.
    fn transport(&self, cause: &(dyn Error + 'static)) -> Option<String> {
        let sends = self.side.sends_authorization();
        let url = match self.side.place() {
            SidePlace::Url(url) => url.clone(),
            SidePlace::Command(_) => "the server".to_owned(),
        };
        of_type(cause, |exited| Some(self.exited(exited)))
            .or_else(|| of_type(cause, |error| Some(spawn_phrase(self.side, error))))
            .or_else(|| of_type(cause, |error| Some(http_phrase(&url, error, sends))))
            .or_else(|| of_type(cause, |error| Some(sse_phrase(&url, error, sends))))
    }

    fn exited(&self, exited: &Exited) -> String {
        let name = match self.side.place() {
            SidePlace::Command(name) => name.clone(),
            SidePlace::Url(_) => program_name(&exited.program),
        };
        let before = if self.is_connected { "" } else { " before it answered" };
        let text = format!("{}{before}", Exited::new(name, exited.status, ""));
        let stderr = exited.stderr.trim_end();
        if self.side.shows_stderr() || stderr.is_empty() {
            return self.with_text(text);
        }
        self.with_text(format!("{text}; the end of its stderr:\n{stderr}"))
    }

    /// Adds the text that the other side wrote to stdout in place of an answer.
    fn with_text(&self, sentence: String) -> String {
        match self.side.first_text().filter(|_| !self.is_connected) {
            Some(text) => format!("{sentence}; it wrote to stdout, where only JSON-RPC belongs: {text}"),
            None => sentence,
        }
    }

    /// Adds advice on a program of the other protocol: both protocols begin with `initialize`.
    fn with_other_protocol(&self, method: &str, sentence: String) -> String {
        if self.is_connected || method != "initialize" {
            return sentence;
        }
        match self.side.role() {
            Role::Agent => format!(
                "{sentence}; if {} is an MCP server, try `agentwire tools`, or give it to an agent by --mcp",
                self.side,
            ),
            Role::Server => {
                format!("{sentence}; if {} is an ACP agent, try `agentwire chat --agent`", self.side)
            }
        }
    }
}

/// A program that cannot be started.
fn spawn_phrase(side: &OtherSide, error: &SpawnError) -> String {
    let (program, why) = match error {
        SpawnError::Start { program, source, .. } => (program, Some(source)),
        SpawnError::Directory { program, .. } => (program, None),
        other => return causes(other),
    };
    let name = program_name(program);
    let Some(why) = why else { return causes(error) };
    if why.kind() == std::io::ErrorKind::PermissionDenied {
        return match Path::new(program).is_dir() {
            true => format!("cannot start `{name}`: it is a folder"),
            false => format!("cannot start `{name}`: it is not executable; `chmod +x` makes it so"),
        };
    }
    if why.kind() != std::io::ErrorKind::NotFound {
        return format!("cannot start `{name}`: {why}");
    }
    if program.contains('=') {
        return format!("cannot start `{name}`: a variable is set by `env {name}` before the program");
    }
    let hint = match looks_like_host(program) && side.role() == Role::Server {
        true => format!("; for a server at a URL, write https://{name}"),
        false => String::new(),
    };
    format!("cannot start `{name}`: there is no such command{hint}")
}

/// Whether a command that does not exist looks like a URL without its scheme: `example.com/mcp`.
fn looks_like_host(program: &str) -> bool {
    let host = program.split('/').next().unwrap_or_default();
    let last = host.rsplit_once('.').map(|(_, last)| last);
    !program.starts_with('.') && last.is_some_and(|last| last.len() > 1 && !FILE_ENDS.contains(&last))
}

/// The endings of names that are files and not hosts.
const FILE_ENDS: &[&str] = &["js", "mjs", "cjs", "ts", "py", "sh", "json", "exe", "jar", "rb"];

#[cfg(test)]
mod tests {
    use agentwire_transport_stdio::{Child, Command};

    use super::*;

    fn said(role: Role, is_connected: bool, error: impl Into<Box<dyn Error + Send + Sync>>) -> String {
        let side = OtherSide::program(role, &Command::new("it"));
        phrase(&side, is_connected, &*error.into()).unwrap()
    }

    #[test]
    fn each_failure_names_the_other_side() {
        let refused = |method, data: Option<&str>| {
            let error = ErrorObject::new(1, "no");
            CallError::refused(method, data.map_or(error.clone(), |data| error.with_data(&data)))
        };
        assert_eq!(said(Role::Agent, true, refused("m", None)), "the agent refused m: no (1)");
        assert_eq!(
            said(Role::Server, true, refused("m", Some("x"))),
            "the server refused m: no (1); data: \"x\""
        );
        let long = "x".repeat(2 * DATA_LIMIT);
        assert!(said(Role::Server, true, refused("m", Some(&long))).ends_with("… [1026 bytes more]"));
        assert_eq!(
            said(Role::Agent, false, refused("initialize", None)),
            "the agent refused initialize: no (1); if `it` is an MCP server, try `agentwire tools`, or give it to an \
             agent by --mcp"
        );
        assert_eq!(
            said(Role::Server, false, HandshakeError::from(refused("initialize", None))),
            "the server refused initialize: no (1); if `it` is an ACP agent, try `agentwire chat --agent`"
        );
        let rows: Vec<(CallError, &str)> = vec![
            (CallError::timed_out("m", Duration::from_secs(4)), "the server did not answer m within 4s"),
            (CallError::cancelled("m"), "the server ended m without an answer"),
            (CallError::malformed("m", "why"), "the server's answer to m cannot be read: why"),
            (CallError::failed("m", "gone"), "m: gone"),
            (Closed::default().into(), "the server closed the connection"),
        ];
        for (error, sentence) in rows {
            assert_eq!(said(Role::Server, true, error), sentence);
        }
    }

    #[test]
    fn a_program_that_cannot_be_started_is_named() {
        let failed =
            |role, program: &str| said(role, false, Child::spawn(Command::new(program)).unwrap_err());
        assert_eq!(
            failed(Role::Server, "/no/such-server.py"),
            "cannot start `/no/such-server.py`: there is no such command"
        );
        assert_eq!(
            failed(Role::Server, "mcp.example/mcp"),
            "cannot start `mcp.example/mcp`: there is no such command; for a server at a URL, write \
             https://mcp.example/mcp"
        );
        #[cfg(unix)]
        {
            let folder = tempfile::tempdir().unwrap();
            let (folder, script) = (folder.path(), folder.path().join("srv.py"));
            std::fs::write(&script, "").unwrap();
            let folder = failed(Role::Server, folder.to_str().unwrap());
            assert!(folder.ends_with("`: it is a folder"), "{folder}");
            let script = failed(Role::Server, script.to_str().unwrap());
            assert!(script.ends_with("/srv.py`: it is not executable; `chmod +x` makes it so"), "{script}");
        }
        assert_eq!(
            failed(Role::Agent, "no-such.example"),
            "cannot start `no-such.example`: there is no such command"
        );
        assert_eq!(
            failed(Role::Agent, "KEY=secret"),
            "cannot start `KEY=…`: a variable is set by `env KEY=…` before the program"
        );
    }
}
