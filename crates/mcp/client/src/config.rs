//! `Config`: the limits and time-outs of a client's connection.

agentwire_peer::runtime_config! {
    /// The configuration of a client's connections: limits, times and what observes them.
    MCP: request_limit, request_bytes_limit, high_water, backlog_limit, batch_response_limit, drain, close, observer
}
