//! `Config`: the limits and time-outs of a client's connection.

use crate::decode::DEFAULT_VALUE_LIMIT;

agentwire_peer::runtime_config! {
    /// The configuration of a client's connection: limits, time limits and an observer.
    ///
    /// The decoded size of a message is limited to 32 MiB ([`value_limit`](Self::value_limit)). The estimate errs
    /// on the high side; the text of strings, `_meta`, `rawInput` and `rawOutput` do not count. A message over the limit
    /// becomes an [unreadable update](crate::Client::unreadable_update), a refused request or a failed call; each names
    /// the limit.
    ACP: request_limit, request_bytes_limit, value_limit["32 MiB" = DEFAULT_VALUE_LIMIT], high_water, backlog_limit, drain,
    close, observer
}
