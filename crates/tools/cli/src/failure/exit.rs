//! Maps errors to exit codes.

use std::error::Error;
use std::io;

use agentwire_jsonrpc::RequestMethod as _;
use agentwire_mcp_auth::client::AuthError;
use agentwire_mcp_client::HandshakeError;
use agentwire_mcp_client::schema::CallToolRequest;
use agentwire_peer::CallError;
use agentwire_transport_http::client::{CertificateError, HttpError};
use agentwire_transport_sse::client::SseError;
use agentwire_transport_stdio::SpawnError;
use http::StatusCode;

use super::chain::of_type;
use super::errors::{AlreadyPrinted, Exit, Failure, Interrupted, Overdue, ProgramEnded, ToolFailed, Usage};
use super::remote::RemoteError;

/// The exit code when our output is closed: that of a program which SIGPIPE ends.
const OUTPUT_CLOSED: u8 = 141;

/// Whether our output is closed. An error of a connection is never an `io::Error` itself.
pub(crate) fn is_output_closed(error: &anyhow::Error) -> bool {
    if let Some(AlreadyPrinted(error)) = error.downcast_ref() {
        return is_output_closed(error);
    }
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit code of the program that ends with this error.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    // A transparent error leaves its own error out of its sources.
    if let Some(AlreadyPrinted(error)) = error.downcast_ref() {
        return exit_code(error);
    }
    if is_output_closed(error) {
        return OUTPUT_CLOSED;
    }
    // Wherever it is in the chain, this error means that the environment is wrong.
    if error.chain().any(|cause| cause.is::<CertificateError>()) {
        return Exit::Usage.code();
    }
    error.chain().find_map(exit_of).unwrap_or(Exit::Failed).code()
}

/// Whether a signal or a time limit has ended the command.
pub(crate) fn is_cut_short(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(exit_of(cause), Some(Exit::TimedOut | Exit::Interrupted(_))))
}

/// The exit code of an error, if its type has one.
fn exit_of(error: &(dyn Error + 'static)) -> Option<Exit> {
    of_type(error, |failure: &Failure| Some(failure.exit()))
        .or_else(|| of_type(error, RemoteError::exit))
        .or_else(|| of_type(error, |Interrupted(code)| Some(Exit::Interrupted(*code))))
        .or_else(|| of_type(error, |ProgramEnded(code)| Some(Exit::ProgramEnded(*code))))
        .or_else(|| of_type(error, |_: &Overdue| Some(Exit::TimedOut)))
        .or_else(|| of_type(error, |_: &Usage| Some(Exit::Usage)))
        .or_else(|| of_type(error, |_: &ToolFailed| Some(Exit::ToolFailed)))
        .or_else(|| of_type(error, |_: &SpawnError| Some(Exit::Unreachable)))
        .or_else(|| of_type(error, of_handshake))
        .or_else(|| of_type(error, of_call))
        .or_else(|| of_type(error, of_http))
        .or_else(|| of_type(error, of_sse))
        .or_else(|| of_type(error, of_auth))
}

fn of_handshake(error: &HandshakeError) -> Option<Exit> {
    match error {
        // The other side has ended before it answered.
        HandshakeError::Call(CallError::Closed(_)) => Some(Exit::Unreachable),
        HandshakeError::Call(error) => of_call(error),
        _ => Some(Exit::Failed),
    }
}

fn of_call(error: &CallError) -> Option<Exit> {
    match error {
        CallError::TimedOut { .. } => Some(Exit::TimedOut),
        CallError::Refused { method, .. } if *method == CallToolRequest::NAME => Some(Exit::ToolFailed),
        CallError::Refused { .. } => Some(Exit::Failed),
        _ => None,
    }
}

fn of_http(error: &HttpError) -> Option<Exit> {
    match error {
        HttpError::Refused(refusal) => Some(match refusal.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Exit::Unauthorized,
            _ => Exit::Failed,
        }),
        HttpError::Unsent(_) => Some(Exit::Unreachable),
        HttpError::TimedOut { .. } => Some(Exit::TimedOut),
        _ => None,
    }
}

fn of_sse(error: &SseError) -> Option<Exit> {
    match error {
        SseError::Http(error) => of_http(error),
        SseError::EndpointTimedOut { .. } => Some(Exit::TimedOut),
        _ => None,
    }
}

fn of_auth(error: &AuthError) -> Option<Exit> {
    match error {
        AuthError::Transient { .. } => Some(Exit::Unreachable),
        _ => Some(Exit::Unauthorized),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agentwire_jsonrpc::ErrorObject;
    use agentwire_peer::Closed;

    use super::super::errors::to_anyhow;
    use super::*;

    #[test]
    fn each_failure_has_its_code() {
        let refused = |method| CallError::refused(method, ErrorObject::new(1, "no"));
        let closed = || CallError::from(Closed::default());
        let rows: Vec<(anyhow::Error, u8)> = vec![
            (anyhow::anyhow!("any other"), 1),
            (Usage("--http".into()).into(), 2),
            (Failure::new(Exit::Unauthorized, "log in").into(), 3),
            (anyhow::Error::new(Failure::new(Exit::NotPermitted, "no")).context("more"), 6),
            (to_anyhow(Failure::new(Exit::Unreachable, "gone").into()), 4),
            (AlreadyPrinted(ToolFailed.into()).into(), 5),
            (ProgramEnded(7).into(), 7),
            (AlreadyPrinted(Interrupted(143).into()).into(), 143),
            (to_anyhow(Interrupted::BY_KEY.into()), 130),
            (CallError::timed_out("m", Duration::from_secs(1)).into(), 124),
            (refused("m").into(), 1),
            (refused("tools/call").into(), 5),
            (closed().into(), 1),
            (HandshakeError::from(closed()).into(), 4),
            (HandshakeError::from(refused("initialize")).into(), 1),
        ];
        for (error, code) in rows {
            assert_eq!(exit_code(&error), code, "{error:?}");
        }
    }

    #[test]
    fn signal_and_time_limit_cut_a_command_short() {
        let rows: [(anyhow::Error, bool); 6] = [
            (to_anyhow(Interrupted(143).into()), true),
            (to_anyhow(Interrupted::BY_KEY.explained("interrupted").into()), true),
            (Failure::new(Exit::TimedOut, "late").into(), true),
            (CallError::timed_out("m", Duration::from_secs(1)).into(), true),
            (Failure::new(Exit::NotPermitted, "no").into(), false),
            (anyhow::anyhow!("any other"), false),
        ];
        for (error, is_cut) in rows {
            assert_eq!(is_cut_short(&error), is_cut, "{error:?}");
        }
    }
}
