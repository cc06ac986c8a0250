//! The parts of a server. The code that answers requests works with them, and not with the public `Server`, which also
//! uses that code.

use std::sync::Arc;

use crate::ServerResourceTemplate;
use crate::define::function::kind;
use crate::define::layers::{Layers, Next};
use crate::define::registry::Registry;
use crate::define::resource_template::Values;
use crate::settings::Settings;

/// The settings, registries and layers of a server.
#[derive(Clone)]
pub(crate) struct ServerParts {
    pub(crate) settings: Arc<Settings>,
    pub(crate) registries: Arc<Registries>,
    pub(super) layers: Option<Arc<Layers>>,
}

/// The registered items, for all clones of a server.
#[derive(Default)]
pub(crate) struct Registries {
    pub(crate) tools: Registry<kind::Tool>,
    pub(crate) resources: Registry<kind::Resource>,
    pub(crate) resource_templates: Registry<kind::ResourceTemplate>,
    pub(crate) prompts: Registry<kind::Prompt>,
}

impl ServerParts {
    /// The outermost of the server's layers.
    pub(crate) fn first_layer(&self) -> Option<&Next> {
        self.layers.as_deref().and_then(Layers::first)
    }
}

impl Registries {
    /// The first template that makes that URI, and the values of its variables.
    pub(crate) fn find_template(&self, uri: &str) -> Option<(Arc<ServerResourceTemplate>, Values)> {
        let templates = self.resource_templates.all();
        templates.into_iter().find_map(|template| template.values_of(uri).map(|values| (template, values)))
    }

    /// Whether a resource or a template is registered for that URI. A template's function may still find nothing there.
    pub(crate) fn has_resource(&self, uri: &str) -> bool {
        self.resources.find(uri).is_some() || self.find_template(uri).is_some()
    }
}
