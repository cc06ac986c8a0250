//! What an error of the engine means.

use agentwire_store::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// An address is no URL of Redis.
    #[error("the address of the engine is invalid")]
    Address(#[source] RedisError),
    /// The engine does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine deletes keys when its memory is full, so sessions would vanish.
    #[error(
        "the engine evicts keys by `maxmemory-policy {0}`: sessions would vanish; set it to `noeviction`"
    )]
    Eviction(String),
    /// The engine does not say whether it deletes keys when its memory is full.
    #[error(
        "the engine does not say its `maxmemory_policy` in INFO, so it cannot be checked for `noeviction`"
    )]
    NoPolicy,
    /// The user may not run a command that the store needs.
    #[error("the engine's user may not do what the store needs, which the guide for production lists")]
    Permission(#[source] RedisError),
}

/// The circuit is open.
#[derive(Debug, thiserror::Error)]
#[error("the engine has not answered repeatedly, and is asked again within a second")]
pub(crate) struct CircuitOpen;

/// The time-out of a command.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {0} ms")]
pub(crate) struct TimedOut(pub(crate) u128);

/// A reply has another shape than the command's.
#[derive(Debug, thiserror::Error)]
#[error("the engine's reply to {0} has an unexpected form")]
pub(crate) struct UnexpectedReply(pub(crate) &'static str);

/// A reply of another shape.
pub(crate) fn unexpected(command: &'static str) -> StoreError {
    StoreError::damaged(UnexpectedReply(command))
}

/// Returns whether the engine, or the part of it that has the key, cannot serve at present.
pub(crate) fn is_away(error: &RedisError) -> bool {
    use ServerErrorKind as Kind;
    match error.kind() {
        ErrorKind::Server(kind) => matches!(
            kind,
            Kind::BusyLoading
                | Kind::Moved
                | Kind::Ask
                | Kind::TryAgain
                | Kind::ClusterDown
                | Kind::MasterDown
                | Kind::ReadOnly
                | Kind::NoPerm
        ),
        // It refuses until somebody mends it: replicas that a write needs are missing, it cannot write to its disk, it runs a long
        // script, or the user or its rights have changed.
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
    error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm)
}

/// Returns whether a command had no answer in its time.
pub(crate) fn is_silent(error: &StoreError) -> bool {
    let StoreError::Away(error) = error else { return false };
    error.is::<TimedOut>() || error.downcast_ref::<RedisError>().is_some_and(RedisError::is_timeout)
}

/// The error of a store for one of the engine.
pub(crate) fn store_error(error: RedisError) -> StoreError {
    if is_away(&error) {
        StoreError::away(error)
    } else if error.code() == Some("OOM") {
        StoreError::full(error)
    } else {
        StoreError::damaged(error)
    }
}

/// The error that is a reply, or the reply.
pub(crate) fn checked(reply: Value) -> Result<Value, RedisError> {
    match reply {
        Value::ServerError(error) => Err(error.into()),
        reply => Ok(reply),
    }
}
