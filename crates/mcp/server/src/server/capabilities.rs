//! The capabilities that a server advertises.

use agentwire_mcp_schema::core_tasks::{ServerTaskRequests, ServerTasksCapability, ToolTasks};
use agentwire_mcp_schema::{
    JsonObject, PromptsCapability, ResourcesCapability, ServerCapabilities, TaskSupport, ToolsCapability,
    task_extension,
};

use super::parts::{Registries, ServerParts};
use crate::ServerTool;
use crate::capability::Capability;
use crate::request::client_context::ClientContext;
use crate::settings::Settings;
use crate::warning::ServerWarning;

impl ServerParts {
    /// Whether a client can use a capability: that of a session only if its handshake advertised it.
    pub(crate) fn offers_to(&self, client: &ClientContext, capability: Capability) -> bool {
        match client {
            ClientContext::Session(session) => session.is_offered(capability),
            ClientContext::Request(_) => self.offers(capability),
        }
    }

    /// Whether the capability is registered or advertised. Cheaper than [`capabilities`](Self::capabilities), with the same
    /// result.
    pub(crate) fn offers(&self, capability: Capability) -> bool {
        let Settings { advertised, logging, resource_updates, .. } = &*self.settings;
        let has = match capability {
            Capability::Tools => !self.registries.tools.is_empty(),
            Capability::Resources => {
                let Registries { resources, resource_templates, .. } = &*self.registries;
                *resource_updates || !resources.is_empty() || !resource_templates.is_empty()
            }
            Capability::Completions => {
                let Registries { resource_templates, prompts, .. } = &*self.registries;
                resource_templates.any(|template| !template.completers().is_empty())
                    || prompts.any(|prompt| !prompt.completers().is_empty())
            }
            Capability::Prompts => !self.registries.prompts.is_empty(),
            Capability::Logging => logging.is_some(),
            // What is advertised without being there would not be answered.
            Capability::Tasks => return self.offers_tasks(),
            _ => false,
        };
        has || advertised.has(capability.path())
    }

    /// The advertised capabilities: those of what is registered, and those that the author added.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = self.settings.advertised.clone();
        if !self.registries.tools.is_empty() {
            capabilities.tools.get_or_insert_with(|| ToolsCapability::default().list_changed(true));
        }
        if self.offers(Capability::Resources) {
            let listed = || ResourcesCapability::default().list_changed(true);
            capabilities.resources.get_or_insert_with(listed).subscribe |= self.settings.resource_updates;
        }
        if !self.registries.prompts.is_empty() {
            capabilities.prompts.get_or_insert_with(|| PromptsCapability::default().list_changed(true));
        }
        if self.offers(Capability::Completions) {
            capabilities.completions.get_or_insert_with(JsonObject::new);
        }
        if self.settings.logging.is_some() {
            capabilities.logging.get_or_insert_with(JsonObject::new);
        }
        if self.settings.tasks.is_none() && self.registries.tools.any(may_be_task) {
            self.settings.warnings.give(ServerWarning::NoTasks);
        }
        if self.offers_tasks() {
            // The client's revision decides which of the two is sent.
            capabilities.tasks.get_or_insert_with(core_tasks);
            let extensions = capabilities.extensions.get_or_insert_with(JsonObject::new);
            extensions.entry(task_extension::NAME).or_insert_with(|| JsonObject::new().into());
        }
        capabilities
    }

    /// Whether tasks are configured, and a tool may run as one or the author advertised them.
    fn offers_tasks(&self) -> bool {
        let is_advertised = |advertised: &ServerCapabilities| {
            let extensions = advertised.extensions.as_ref();
            advertised.tasks.is_some()
                || extensions.is_some_and(|names| names.contains_key(task_extension::NAME))
        };
        self.settings.tasks.is_some()
            && (is_advertised(&self.settings.advertised) || self.registries.tools.any(may_be_task))
    }
}

/// Whether calls of a tool may run as tasks.
fn may_be_task(tool: &ServerTool) -> bool {
    matches!(tool.task_support(), TaskSupport::Optional | TaskSupport::Required)
}

/// The capability for clients of 2025-11-25, where tasks are part of the core protocol.
fn core_tasks() -> ServerTasksCapability {
    let requests = ServerTaskRequests::default().tools(ToolTasks::default().call(JsonObject::new()));
    ServerTasksCapability::default().list(JsonObject::new()).cancel(JsonObject::new()).requests(requests)
}
