use crate::decode::DEFAULT_VALUE_LIMIT;

agentwire_peer::runtime_config! {
    /// The configuration of a client's connection: limits, times and what observes it.
    ///
    /// What a message of the agent's takes once decoded is bounded: 32 MiB ([`value_limit`](Self::value_limit)), by an estimate
    /// that is rather too high and counts neither the text of strings nor `_meta`, `rawInput` and `rawOutput`. A message that
    /// exceeds it is an [unreadable update](crate::Client::unreadable_update), a request that is refused, or a call that
    /// fails; each names the limit.
    ACP: request_limit, request_bytes_limit, value_limit["32 MiB" = DEFAULT_VALUE_LIMIT], high_water, backlog_limit, drain,
    close, observer
}
