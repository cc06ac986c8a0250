//! Checks that the engine's user may run each command of the store.

use agentwire_store::{NodeId, StoreError};
use redis::aio::ConnectionLike;
use redis::Pipeline;
use tokio::sync::mpsc;

use crate::error::{ConnectError, EngineError, checked, is_forbidden};
use crate::keys::Keys;
use crate::link::Link;

/// What is run on one key, which holds a string meanwhile: most of it fails, after the engine has looked at what the user may do.
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

/// Fails where the user may not run a command, or not on the keys and channels of the store. Any other fault shows where it matters.
pub(crate) async fn check(link: &Link, keys: &Keys) -> Result<(), ConnectError> {
    let node = NodeId::random().unwrap_or(NodeId::new(0));
    let key = keys.other(format_args!("check:{node}"));
    let mut pipeline = Pipeline::new();
    for command in COMMANDS {
        let (name, arguments) = command.split_first().expect("each has a name");
        let command = pipeline.cmd(name);
        for argument in arguments {
            command.arg(if *argument == "KEY" { &*key } else { argument });
        }
    }
    let replies = [
        link.run_all(&pipeline).await.map(drop),
        link.run(&redis::cmd("TIME")).await.map(drop),
        link.run(&redis::cmd("PING")).await.map(drop),
    ];
    for reply in replies {
        if let Err(error @ ConnectError::Permission(_)) = reply.map_err(refused) {
            return Err(error);
        }
    }
    let (pushes, _received) = mpsc::unbounded_channel();
    let Ok(mut connection) = link.connect(pushes).await else { return Ok(()) };
    let channel = keys.bus_of(node);
    for (name, text) in [("SPUBLISH", Some("")), ("SSUBSCRIBE", None), ("SUNSUBSCRIBE", None)] {
        let mut command = redis::cmd(name);
        command.arg(&channel).arg(text);
        let reply = tokio::time::timeout(link.timeout(), connection.req_packed_command(&command)).await;
        match reply.map(|reply| reply.and_then(checked)) {
            Ok(Err(error)) if is_forbidden(&error) => return Err(ConnectError::Permission(error)),
            _ => (),
        }
    }
    Ok(())
}

/// The error of a connection for one of a command.
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
