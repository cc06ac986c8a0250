//! `Config`: the limits and time-outs of a server's connection.

agentwire_peer::runtime_config! {
    /// The configuration of a server's connections: limits, times and what observes them. The observer also observes
    /// modern requests.
    MCP: request_limit, request_bytes_limit, value_limit, high_water, backlog_limit, batch_response_limit, drain, close,
    shutdown, observer
}
