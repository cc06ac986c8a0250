//! How a session ends: at once, when its requests are answered, or by a cut at the end of a shutdown.

use std::sync::Weak;
use std::task::Waker;

use agentwire_jsonrpc::{ErrorObject, Frame, Response};

use crate::server::endpoint::resources::Resources;
use crate::server::session::Session;

impl Session {
    /// Ends everything at once.
    pub(crate) fn close(&self, resources: &Resources) {
        let mut state = self.lock();
        // Under the same lock, so that no request is taken in between.
        state.closed = true;
        let routes = std::mem::take(&mut state.routes);
        drop(state);
        self.retire(resources);
        routes.into_streams().for_each(|stream| stream.finish(&resources.config));
    }

    /// Ends the input once every request is answered.
    pub(crate) fn drain(&self, resources: &Resources) {
        let mut state = self.lock();
        state.draining = true;
        if state.is_drained() {
            drop(state);
            self.retire(resources);
        }
    }

    /// Answers every unanswered request with an error, ends the streams, and drops the future that serves the session.
    pub(crate) fn cut(&self, error: &ErrorObject, resources: &Resources) {
        let mut state = self.lock();
        state.closed = true;
        for (id, stream) in std::mem::take(&mut state.routes).into_entries() {
            let answer = Response::new(id, Err(error.clone()));
            stream.put(&Frame::Single(answer.into()), 1, resources);
        }
        drop(state);
        self.retire(resources);
        if let Some(task) = self.task.get().and_then(Weak::upgrade) {
            task.stop();
        }
    }

    /// Takes no more messages, but lets unanswered requests be answered.
    pub(crate) fn retire(&self, resources: &Resources) {
        let mut state = self.lock();
        state.closed = true;
        state.unsent.clear();
        let listeners = std::mem::take(&mut state.listeners);
        let wakers = std::mem::take(&mut state.posts).into_iter().chain(state.packet_waker.take());
        drop(state);
        wakers.for_each(Waker::wake);
        if !listeners.is_empty() {
            self.end_delivery(resources);
        }
        listeners.into_iter().for_each(|stream| stream.finish(&resources.config));
    }
}
