//! Tracks the full response streams of a session, and lets messages for other requests pass. Beyond `session_high_water` bytes it
//! cuts the slow readers.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::server::EndpointConfig;
use crate::server::endpoint::resources::Resources;
use crate::server::response_stream::ResponseStream;
use crate::server::session::pending::PendingResponses;

/// The streams of a session that have more unread than each has room for.
///
/// A connection sends its messages in order, for all streams. So a message for a full stream would hold up the others. While
/// another request is unanswered, it is queued beyond the stream's room, up to a limit; then slow readers are cut.
#[derive(Debug, Default)]
pub(super) struct FullStreams(Vec<Arc<ResponseStream>>);

impl FullStreams {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, stream: Arc<ResponseStream>) {
        if !self.contains(&stream) {
            self.0.push(stream);
        }
    }

    fn contains(&self, stream: &Arc<ResponseStream>) -> bool {
        self.0.iter().any(|full| Arc::ptr_eq(full, stream))
    }

    /// Whether a request is unanswered whose own stream has room.
    fn blocks_others(&self, routes: &PendingResponses) -> bool {
        routes.streams().any(|stream| !self.contains(stream))
    }

    /// Ready while a message for any stream may be taken.
    pub(super) fn poll_room(
        &mut self,
        cx: &Context<'_>,
        routes: &PendingResponses,
        config: &EndpointConfig,
    ) -> Poll<()> {
        let (beyond, running) = self.measure(Some(cx), config);
        if self.is_empty() {
            // Mostly no stream is full, and none is full twice.
            self.0 = Vec::new();
            return Poll::Ready(());
        }
        let lends = !running || self.blocks_others(routes);
        if lends && beyond < config.session_high_water { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Forgets the streams that have room. Returns how many bytes the others are beyond theirs, and whether one of them has
    /// not ended.
    fn measure(&mut self, cx: Option<&Context<'_>>, config: &EndpointConfig) -> (usize, bool) {
        let (mut beyond, mut running) = (0, false);
        self.0.retain(|stream| {
            let overfull = stream.overfull(cx, config.limits.high_water);
            beyond += overfull.as_ref().map_or(0, |overfull| overfull.beyond);
            running |= overfull.as_ref().is_some_and(|overfull| !overfull.ended);
            overfull.is_some()
        });
        (beyond, running)
    }

    /// Cuts the streams that are not read and for which others wait.
    pub(super) fn cut_slow_readers(&mut self, routes: &PendingResponses, now: u32, resources: &Resources) {
        if self.is_empty() {
            return;
        }
        let (beyond, _) = self.measure(None, &resources.config);
        if beyond >= resources.config.session_high_water && self.blocks_others(routes) {
            self.0.iter().for_each(|stream| stream.cut(now, resources.ticks.slow_reader_timeout));
        }
    }

    /// The wakers that wait for room, where a new request may have changed that.
    pub(super) fn take_waiting(&self) -> Vec<Waker> {
        self.0.iter().filter_map(|stream| stream.take_sink()).collect()
    }
}
