agentwire_peer::runtime_config! {
    /// The configuration of an agent's connection: limits, time limits and an observer.
    ///
    /// Requests may have 128 MiB of params in all while they are worked on, because prompts hold images and last for minutes.
    ACP: request_limit, request_bytes_limit["128 MiB" = 128 << 20], value_limit, high_water, backlog_limit, drain, close,
    shutdown, observer
}
