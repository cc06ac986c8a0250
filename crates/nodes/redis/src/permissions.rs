//! Checks that the engine accepts a session, and that the user may run each command of the store.

use agentwire_store::{NodeId, SessionId, StoreError};
use redis::Pipeline;
use redis::aio::ConnectionLike;
use tokio::sync::mpsc;

use crate::error::{ConnectError, EngineError, checked, is_forbidden, store_error};
use crate::events::entry::is_only_event;
use crate::link::Link;
use crate::link::keys::Keys;
use crate::new_session;

/// Commands that are run on a key with a string. Most fail because of its type, but only after the engine has checked the user's rights.
const COMMANDS: &[&[&str]] = &[
    &["SET", "KEY", "1", "PX", "10000"],
    &["EVAL", "return 1", "1", "KEY"],
    &["GET", "KEY"],
    &["GETRANGE", "KEY", "0", "0"],
    &["EXISTS", "KEY"],
    &["TYPE", "KEY"],
    &["PEXPIRE", "KEY", "10000"],
    &["PTTL", "KEY"],
    &["XADD", "KEY", "NOMKSTREAM", "*", "a", "1"],
    &["XRANGE", "KEY", "-", "+", "COUNT", "1"],
    &["XREVRANGE", "KEY", "+", "-", "COUNT", "1"],
    &["ZADD", "KEY", "XX", "1", "a"],
    &["ZCARD", "KEY"],
    &["ZRANGE", "KEY", "0", "0"],
    &["ZREM", "KEY", "a"],
    &["ZREMRANGEBYRANK", "KEY", "0", "0"],
    &["ZREMRANGEBYSCORE", "KEY", "0", "0"],
    #[cfg(feature = "acp")]
    &["RPUSH", "KEY", "a"],
    #[cfg(feature = "acp")]
    &["LRANGE", "KEY", "0", "0"],
    #[cfg(feature = "acp")]
    &["LLEN", "KEY"],
    #[cfg(feature = "acp")]
    &["DEL", "KEY"],
    &["UNLINK", "KEY"],
];

/// The time to live of the keys of a check, in milliseconds: 10 s.
const TRIAL_TIME: u64 = 10_000;

/// Creates a session, runs each command of the store, and deletes the keys. An engine that answers `PING` may still refuse a
/// session: its memory is full, it is a replica, or its user may not run a command.
pub(crate) async fn try_session(link: &Link, keys: &Keys) -> Result<(), StoreError> {
    let no_randomness = || StoreError::away("the system has no randomness");
    let session = SessionId::random().ok_or_else(no_randomness)?;
    let node = NodeId::random().ok_or_else(no_randomness)?;
    let key = keys.record(session);
    let mut pipeline = Pipeline::new();
    for command in COMMANDS {
        let (name, arguments) = command.split_first().expect("each has a name");
        let command = pipeline.cmd(name);
        for argument in arguments {
            command.arg(if *argument == "KEY" { &*key } else { argument });
        }
    }
    new_session::add(&mut pipeline, keys, session, TRIAL_TIME);
    for reply in link.run_all(&pipeline).await? {
        // Most commands are for another type than that of the key.
        if let Err(error) = reply.map(drop)
            && !is_only_event(&error)
        {
            return Err(store_error(error));
        }
    }
    link.run(&redis::cmd("TIME")).await?;
    link.run(&redis::cmd("PING")).await?;
    // The channel has no subscriber.
    link.run(redis::cmd("SPUBLISH").arg(keys.bus_of(node)).arg("")).await.map(drop)
}

/// Fails if the user may not run a command on the keys and channels of the store. Other errors are ignored: later commands report them.
pub(crate) async fn check(link: &Link, keys: &Keys) -> Result<(), ConnectError> {
    if let Err(error @ ConnectError::Permission(_)) = try_session(link, keys).await.map_err(refused) {
        return Err(error);
    }
    let (pushes, _received) = mpsc::unbounded_channel();
    let Ok(mut connection) = link.connect(pushes).await else { return Ok(()) };
    let channel = keys.bus_of(NodeId::random().unwrap_or(NodeId::new(0)));
    for name in ["SSUBSCRIBE", "SUNSUBSCRIBE"] {
        let mut command = redis::cmd(name);
        command.arg(&channel);
        let reply = tokio::time::timeout(link.timeout(), connection.req_packed_command(&command)).await;
        match reply.map(|reply| reply.and_then(checked)) {
            Ok(Err(error)) if is_forbidden(&error) => return Err(ConnectError::Permission(error)),
            _ => (),
        }
    }
    Ok(())
}

/// Turns the error of a command into that of [`RedisStore::connect`](crate::RedisStore::connect).
pub(crate) fn refused(error: StoreError) -> ConnectError {
    match error {
        StoreError::Away(error) => match error.downcast::<EngineError>() {
            Ok(error) if is_forbidden(&error.0) => ConnectError::Permission(error.0),
            Ok(error) => StoreError::away(*error).into(),
            Err(error) => StoreError::Away(error).into(),
        },
        error => error.into(),
    }
}
