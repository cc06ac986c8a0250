//! `CallStack`: the layers that the calls of one connection pass.

use std::sync::Arc;

use super::built_in::{self, RawCallFuture};
use super::next::Next;
use crate::connection::Connection;
use crate::raw::RawCall;

/// All layers that the calls of one connection pass. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct CallStack {
    pub(crate) connection: Arc<Connection>,
    /// The layers of the user; `None` if there are none.
    layers: Option<Next>,
}

impl CallStack {
    pub(crate) fn new(connection: Arc<Connection>, layers: Option<Next>) -> Self {
        Self { connection, layers }
    }

    /// Passes a call through all layers.
    pub(crate) fn start(&self, call: RawCall) -> RawCallFuture {
        match &self.layers {
            Some(layers) => layers.call(call),
            None => built_in::start(&self.connection, call),
        }
    }
}
