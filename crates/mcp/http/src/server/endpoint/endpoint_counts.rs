//! The open sessions, streams and exchanges of an endpoint.

/// The numbers of open sessions, streams and exchanges of an [`Endpoint`](crate::server::Endpoint).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointCounts {
    /// Sessions.
    pub sessions: usize,
    /// Event streams that have a reader.
    pub streams: usize,
    /// Requests without a session that have not ended.
    pub exchanges: usize,
}
