use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::server::Config;
use crate::server::outlet::Outlet;
use crate::server::session::routes::Routes;
use crate::server::shared::Shared;

/// The streams of a session that have more unread than each has room for.
///
/// A link takes one message after the other, whatever stream it is for. So where a stream is full, either everything
/// waits, or what is for that stream is taken too. It is taken while others wait, and up to a limit; then whoever does
/// not read is cut.
#[derive(Debug, Default)]
pub(super) struct Full(Vec<Arc<Outlet>>);

impl Full {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, outlet: Arc<Outlet>) {
        if !self.contains(&outlet) {
            self.0.push(outlet);
        }
    }

    fn contains(&self, outlet: &Arc<Outlet>) -> bool {
        self.0.iter().any(|full| Arc::ptr_eq(full, outlet))
    }

    /// Whether a request is unanswered whose own stream has room.
    fn holds_up_others(&self, routes: &Routes) -> bool {
        routes.outlets().any(|outlet| !self.contains(outlet))
    }

    /// Ready while a message may be taken for whatever stream.
    pub(super) fn poll_room(&mut self, cx: &Context<'_>, routes: &Routes, config: &Config) -> Poll<()> {
        let (beyond, running) = self.look(Some(cx), config);
        if self.is_empty() {
            // Mostly no stream is full, and none is full twice.
            self.0 = Vec::new();
            return Poll::Ready(());
        }
        let lends = !running || self.holds_up_others(routes);
        if lends && beyond < config.session_high_water { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Forgets the streams that have room. Says how far the others are beyond theirs, and whether there is one of them on
    /// which more may be said.
    fn look(&mut self, cx: Option<&Context<'_>>, config: &Config) -> (usize, bool) {
        let (mut beyond, mut running) = (0, false);
        self.0.retain(|outlet| {
            let overfull = outlet.overfull(cx, config.high_water);
            beyond += overfull.as_ref().map_or(0, |overfull| overfull.beyond);
            running |= overfull.as_ref().is_some_and(|overfull| !overfull.ended);
            overfull.is_some()
        });
        (beyond, running)
    }

    /// Cuts the streams that nobody reads and for which others wait.
    pub(super) fn relieve(&mut self, routes: &Routes, now: u32, shared: &Shared) {
        if self.is_empty() {
            return;
        }
        let (beyond, _) = self.look(None, &shared.config);
        if beyond >= shared.config.session_high_water && self.holds_up_others(routes) {
            self.0.iter().for_each(|outlet| outlet.cut(now, shared.ticks.hold_up));
        }
    }

    /// Whoever waits for room, where a new request may have changed that.
    pub(super) fn take_waiting(&self) -> Vec<Waker> {
        self.0.iter().filter_map(|outlet| outlet.take_sink()).collect()
    }
}
