//! An observer's data for a new call by this side: members of `_meta`, and a value that it gets back when the call starts.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, RawObject};

/// A call by this side whose request is not queued yet.
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

/// An observer's data for a call.
#[derive(Clone)]
#[non_exhaustive]
pub struct CallContext {
    /// Members that are added to the `_meta` of the request's params. They replace members with the same name. If the params or their
    /// `_meta` are not an object, they stay unchanged.
    pub meta: RawObject,
    /// A value that the observer gets back in [`CallStart::context`](super::CallStart::context). It is dropped if the call is never
    /// sent.
    pub value: Arc<dyn Any + Send + Sync>,
}

impl CallContext {
    /// Returns a context with a value, and without members for `_meta`.
    pub fn new(value: Arc<dyn Any + Send + Sync>) -> Self {
        Self { meta: RawObject::new(), value }
    }

    /// Sets the members that are added to `_meta`.
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
