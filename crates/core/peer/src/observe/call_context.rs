//! An observer's data for a call of ours when it is made: members of `_meta`, and a value that comes back when the call begins.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, RawObject};

/// A call of ours whose request has not been queued.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NewCall<'a> {
    /// The method's name.
    pub method: &'a str,
    /// The params, as text.
    pub params: Option<&'a RawJson>,
    /// The revision of the protocol, if one has been negotiated.
    pub revision: Option<&'a str>,
}

/// A call's data for its observer.
#[derive(Clone)]
#[non_exhaustive]
pub struct CallContext {
    /// Members that the `_meta` of the request's params gets. One that is there already is replaced. Params that are no object,
    /// and a `_meta` that is none, stay as they are.
    pub meta: RawObject,
    /// A value that comes back in [`CallStart::context`](super::CallStart::context). It is dropped with the call if that is
    /// never sent.
    pub value: Arc<dyn Any + Send + Sync>,
}

impl CallContext {
    /// Returns a context with a value, and without members for `_meta`.
    pub fn new(value: Arc<dyn Any + Send + Sync>) -> Self {
        Self { meta: RawObject::new(), value }
    }

    /// Sets the members that `_meta` gets.
    #[must_use]
    pub fn meta(mut self, meta: RawObject) -> Self {
        self.meta = meta;
        self
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext").field("meta", &self.meta).finish_non_exhaustive()
    }
}
