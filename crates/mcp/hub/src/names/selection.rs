//! The tools of a handle that is limited to some servers or tools.

use std::collections::HashSet;
use std::sync::Arc;

use crate::names::{HubTool, full_name};

/// The suffix after a server's name that selects all its tools.
const ALL: &str = "__*";

/// The tools of a handle that is limited to some.
#[derive(Debug)]
pub(crate) struct Selection {
    tools: HashSet<String>,
    servers: HashSet<String>,
    /// The selection of the handle from which this one was made.
    within: Option<Arc<Self>>,
}

impl Selection {
    pub(crate) fn new(names: impl IntoIterator<Item = impl Into<String>>, within: Option<Arc<Self>>) -> Self {
        let (mut tools, mut servers) = (HashSet::new(), HashSet::new());
        for name in names {
            let name = name.into();
            match name.strip_suffix(ALL) {
                Some(server) => servers.insert(server.to_owned()),
                None => tools.insert(name),
            };
        }
        Self { tools, servers, within }
    }

    pub(crate) fn has(&self, tool: &HubTool) -> bool {
        let is_named = || {
            self.tools.contains(&tool.name) || self.tools.contains(&full_name(&tool.server, &tool.tool.name))
        };
        (self.servers.contains(&tool.server) || is_named())
            && self.within.as_ref().is_none_or(|within| within.has(tool))
    }

    /// Whether a tool that its server does not list is selected, by the name that is given.
    pub(crate) fn has_name(&self, server: &str, name: &str) -> bool {
        (self.servers.contains(server) || self.tools.contains(name))
            && self.within.as_ref().is_none_or(|within| within.has_name(server, name))
    }

    /// Whether all tools of a server are selected.
    pub(crate) fn has_server(&self, server: &str) -> bool {
        self.servers.contains(server) && self.within.as_ref().is_none_or(|within| within.has_server(server))
    }
}
