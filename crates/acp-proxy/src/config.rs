agentwire_peer::runtime_config! {
    /// The configuration of a proxy's connections, for the functions that end in `_with`: limits, time limits and an
    /// observer. A relay is two connections for the observer.
    ///
    /// [`drain`](Self::drain) is how long hooks may take to end after the client or the agent has closed,
    /// [`close`](Self::close) how long the other one may then take to close.
    ACP: request_limit, high_water, backlog_limit, drain, close, observer
}
