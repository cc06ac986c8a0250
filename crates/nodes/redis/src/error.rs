//! The errors of the store, and how errors of the engine map to them.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use agentwire_store::StoreError;
use redis::{ErrorKind, RedisError, ServerError, ServerErrorKind, Value};

/// The error of [`RedisStore::connect`](crate::RedisStore::connect).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// An address is not a URL of Redis.
    #[error("the address of the engine is invalid")]
    Address(#[source] RedisError),
    /// The engine does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine deletes keys when its memory is full, so sessions would be lost.
    #[error(
        "the engine evicts keys by `maxmemory-policy {0}`: sessions would vanish; set it to `noeviction`"
    )]
    Eviction(String),
    /// The engine does not report whether it deletes keys when its memory is full.
    #[error(
        "the engine does not say its `maxmemory_policy` in INFO, so it cannot be checked for `noeviction`"
    )]
    NoPolicy,
    /// The user may not run a command that the store needs.
    #[error("the engine's user may not do what the store needs, which the guide for production lists")]
    Permission(#[source] RedisError),
}

/// The circuit is open. Contains the text of the last failure, so a command that is not sent has the same reason as one that was.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CircuitOpen(pub(crate) Arc<str>);

/// An error of the engine's client.
#[derive(Debug)]
pub(crate) struct EngineError(pub(crate) RedisError);

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(code), Some(detail)) = (self.0.code(), self.0.detail()) else { return self.0.fmt(f) };
        // The suffix with the script's hash and line is cut off: it differs between scripts for the same fault.
        let place = detail.rsplit_once(" script: ").filter(|(_, place)| place.contains(", on @"));
        let text = place.map_or(detail, |(text, _)| text);
        write!(f, "{code}: {text}")
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source().filter(|source| !source.is::<ServerError>())
    }
}

/// The time-out of a command.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {0} ms")]
pub(crate) struct TimedOut(pub(crate) u128);

/// A reply is not of the type that the command returns.
#[derive(Debug, thiserror::Error)]
#[error("the engine's reply to {0} has an unexpected form")]
pub(crate) struct UnexpectedReply(pub(crate) &'static str);

/// The error of a store for a reply of an unexpected type.
pub(crate) fn unexpected(command: &'static str) -> StoreError {
    StoreError::damaged(UnexpectedReply(command))
}

/// Returns whether the engine, or the master of the key in a cluster, cannot be reached or cannot serve at present.
pub(crate) fn is_away(error: &RedisError) -> bool {
    use ServerErrorKind as Kind;
    match error.kind() {
        _ if is_forbidden(error) => true,
        ErrorKind::Server(kind) => matches!(
            kind,
            Kind::BusyLoading
                | Kind::Moved
                | Kind::Ask
                | Kind::TryAgain
                | Kind::ClusterDown
                | Kind::MasterDown
                | Kind::ReadOnly
        ),
        // The engine refuses until an operator acts: replicas that a write needs are missing, it cannot write to its disk, it runs a
        // long script, or the user or its rights have changed.
        ErrorKind::Extension => matches!(
            error.code(),
            Some("NOREPLICAS" | "MISCONF" | "BUSY" | "NOAUTH" | "WRONGPASS" | "UNBLOCKED" | "NOMASTERLINK")
        ),
        ErrorKind::UnexpectedReturnType => false,
        _ => true,
    }
}

/// Returns whether the engine's user may not run a command.
pub(crate) fn is_forbidden(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoPerm) => true,
        // A command in a script has no code of its own. Redis 7.0 has the first text, later versions and Valkey the second.
        ErrorKind::Server(ServerErrorKind::ResponseError) => error.detail().is_some_and(|detail| {
            detail.starts_with("The user executing the script can't ")
                || detail.starts_with("ACL failure in script: ")
        }),
        _ => false,
    }
}

/// Returns whether a command timed out.
pub(crate) fn is_silent(error: &StoreError) -> bool {
    let StoreError::Away(error) = error else { return false };
    error.is::<TimedOut>() || error.downcast_ref::<EngineError>().is_some_and(|error| error.0.is_timeout())
}

/// The error of a store for one of the engine.
pub(crate) fn store_error(error: RedisError) -> StoreError {
    if is_away(&error) {
        away(error)
    } else if error.code() == Some("OOM") {
        StoreError::full(EngineError(error))
    } else {
        StoreError::damaged(EngineError(error))
    }
}

/// The error of a store whose engine cannot serve.
pub(crate) fn away(error: RedisError) -> StoreError {
    StoreError::away(EngineError(error))
}

/// Turns a reply that is an error into `Err`.
pub(crate) fn checked(reply: Value) -> Result<Value, RedisError> {
    match reply {
        Value::ServerError(error) => Err(error.into()),
        reply => Ok(reply),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(reply: &str) -> RedisError {
        checked(redis::parse_redis_value(format!("-{reply}\r\n").as_bytes()).unwrap()).unwrap_err()
    }

    #[test]
    fn text_of_an_error_in_a_script_has_no_hash() {
        for (reply, text) in [
            ("NOREPLICAS Not enough. script: 70a, on @user_script:1.", "NOREPLICAS: Not enough."),
            ("ERR ACL failure in script: User u has none", "ERR: ACL failure in script: User u has none"),
            (
                "ERR ACL failure in script: User u has none script: 70a, on @user_script:4.",
                "ERR: ACL failure in script: User u has none",
            ),
            ("READONLY You can't write", "READONLY: You can't write"),
        ] {
            assert_eq!(EngineError(error(reply)).to_string(), text);
        }
    }

    #[test]
    fn refused_command_in_a_script_is_a_missing_right() {
        for (reply, expected) in [
            ("NOPERM this user has no permissions to run the 'get' command", true),
            ("ERR The user executing the script can't run this command or subcommand script: 70a", true),
            ("ERR ACL failure in script: User u has no permissions to run the 'get' command", true),
            ("ERR value is not an integer or out of range", false),
        ] {
            assert_eq!(is_forbidden(&error(reply)), expected, "{reply}");
            assert_eq!(matches!(store_error(error(reply)), StoreError::Away(_)), expected, "{reply}");
        }
    }
}
