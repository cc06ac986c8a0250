//! `Config`: the limits and time-outs of a proxy's connections.

agentwire_peer::runtime_config! {
    /// The configuration of a proxy's connections, for the functions that end in `_with`: limits, time limits and an
    /// observer. A relay is two connections for the observer.
    ///
    /// [`drain`](Self::drain) is how long hooks may take to end after the client or the agent has closed,
    /// [`close`](Self::close) how long the other one may then take to close.
    ///
    /// While [`high_water`](Self::high_water) bytes are queued for one side, the other side is not read. After the first
    /// has taken nothing for 5 s, the other is read until [`backlog_limit`](Self::backlog_limit) bytes are queued, so
    /// that its end is noticed. A side with a full backlog that has taken nothing for [`stall`](Self::stall) has failed.
    ACP: request_limit, high_water, backlog_limit, stall, drain, close, observer
}
