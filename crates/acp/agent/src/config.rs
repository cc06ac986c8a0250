//! `Config`: the limits and time-outs of an agent's connection.

agentwire_peer::runtime_config! {
    /// The configuration of an agent's connection: limits, time limits and an observer.
    ///
    /// All running requests together may hold 128 MiB of params, because prompts contain images and run for minutes.
    ACP: request_limit, request_bytes_limit["128 MiB" = 128 << 20], value_limit, high_water, backlog_limit, drain, close,
    shutdown, observer
}
