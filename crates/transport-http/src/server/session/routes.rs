use std::collections::HashMap;
use std::sync::Arc;

use agentwire_jsonrpc::RequestId;

use crate::server::outlet::Outlet;

/// The responses on which unanswered requests are answered. Mostly there is one, which has a place of its own.
#[derive(Debug, Default)]
pub(super) struct Routes {
    one: Option<(RequestId, Arc<Outlet>)>,
    more: HashMap<RequestId, Arc<Outlet>>,
}

impl Routes {
    pub(super) fn len(&self) -> usize {
        usize::from(self.one.is_some()) + self.more.len()
    }

    pub(super) fn get(&self, id: &RequestId) -> Option<&Arc<Outlet>> {
        match &self.one {
            Some((one, outlet)) if one == id => Some(outlet),
            _ if self.more.is_empty() => None,
            _ => self.more.get(id),
        }
    }

    /// Adds a request that is not there yet.
    pub(super) fn insert(&mut self, id: RequestId, outlet: Arc<Outlet>) {
        if self.one.is_none() {
            self.one = Some((id, outlet));
        } else {
            self.more.insert(id, outlet);
        }
    }

    pub(super) fn remove(&mut self, id: &RequestId) -> Option<Arc<Outlet>> {
        if let Some((_, outlet)) = self.one.take_if(|(one, _)| one == id) {
            return Some(outlet);
        }
        if self.more.is_empty() {
            return None;
        }
        let outlet = self.more.remove(id);
        if self.more.is_empty() {
            // What a crowd took is given back when it has gone.
            self.more = HashMap::new();
        }
        outlet
    }

    pub(super) fn outlets(&self) -> impl Iterator<Item = &Arc<Outlet>> {
        self.one.iter().map(|(_, outlet)| outlet).chain(self.more.values())
    }

    pub(super) fn into_outlets(self) -> impl Iterator<Item = Arc<Outlet>> {
        self.one.into_iter().map(|(_, outlet)| outlet).chain(self.more.into_values())
    }
}
