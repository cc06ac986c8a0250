//! What a connection asks of its server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_mcp_schema::{
    Implementation, JsonObject, LoggingLevel, PromptsCapability, ResourcesCapability, ServerCapabilities,
    ToolsCapability,
};
use agentwire_mcp_schema::{
    TaskSupport,
    core_tasks::{ServerTaskRequests, ServerTasksCapability, ToolTasks},
    task_extension,
};
use agentwire_peer::observe::Observer;
use serde_json::value::RawValue;

use super::{Offers, Server, Settings};
use crate::ask::Asking;
use crate::caching::Caching;
use crate::completion::Completable;
use crate::dispatch::Answers;
use crate::kind::Kind;
use crate::listeners::Listeners;
use crate::quota::Quota;
use crate::registry::Registry;
use crate::tasks::Tasks;
use crate::{ServerPrompt, ServerResource, ServerResourceTemplate, ServerTool, SubscriptionLimits};

impl Server {
    pub(crate) fn validates(&self) -> bool {
        self.settings.validate
    }

    pub(crate) fn tools(&self) -> &Registry<ServerTool> {
        &self.offers.tools
    }

    pub(crate) fn resources(&self) -> &Registry<ServerResource> {
        &self.offers.resources
    }

    pub(crate) fn resource_templates(&self) -> &Registry<ServerResourceTemplate> {
        &self.offers.resource_templates
    }

    /// The template that makes that URI, and with which values.
    pub(crate) fn find_template(
        &self,
        uri: &str,
    ) -> Option<(Arc<ServerResourceTemplate>, BTreeMap<String, String>)> {
        let templates = self.offers.resource_templates.all();
        templates.into_iter().find_map(|template| template.values_of(uri).map(|values| (template, values)))
    }

    /// Whether there is something to read at that URI, as far as is known without reading it.
    pub(crate) fn has_resource(&self, uri: &str) -> bool {
        self.offers.resources.find(uri).is_some() || self.find_template(uri).is_some()
    }

    pub(crate) fn prompts(&self) -> &Registry<ServerPrompt> {
        &self.offers.prompts
    }

    pub(crate) fn answers(&self) -> &Answers {
        &self.offers.answers
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.offers.listeners
    }

    /// How many bytes the arguments of its clients' calls take as values.
    pub(crate) fn values(&self) -> &Quota {
        &self.offers.values
    }

    pub(crate) fn watched(&self) -> &Quota {
        &self.offers.watched
    }

    pub(crate) fn subscription_limits_value(&self) -> &SubscriptionLimits {
        &self.settings.subscription_limits
    }

    pub(crate) fn value_limit_value(&self) -> usize {
        self.settings.value_limit
    }

    pub(crate) fn meta_limit_value(&self) -> usize {
        self.settings.meta_limit
    }

    /// A number that no other session of this server has.
    pub(crate) fn number_session(&self) -> u64 {
        self.offers.sessions.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn info(&self) -> &Implementation {
        &self.settings.info
    }

    pub(crate) fn signature(&self) -> &RawValue {
        &self.settings.signature
    }

    pub(crate) fn asking_settings(&self) -> &Asking {
        &self.settings.asking
    }

    pub(crate) fn tasks_settings(&self) -> Option<&Tasks> {
        self.settings.tasks.as_ref()
    }

    pub(crate) fn list_caching(&self) -> &Caching {
        &self.settings.caching
    }

    pub(crate) fn instructions_text(&self) -> Option<String> {
        self.settings.instructions.clone()
    }

    pub(crate) fn logging_level(&self) -> Option<LoggingLevel> {
        self.settings.logging.clone()
    }

    /// How long requests may take to be answered once the transport is about to end.
    pub(crate) fn drain(&self) -> Duration {
        self.settings.connection.0.drain
    }

    /// What observes connections and exchanges.
    pub(crate) fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.settings.connection.0.observer.as_ref()
    }

    pub(crate) fn page_size_value(&self) -> usize {
        self.settings.page_size
    }

    /// Whether it has things of that kind now, or says that it will. The same as what is advertised, but
    /// found cheaply.
    pub(crate) fn offers(&self, kind: Kind) -> bool {
        let Settings { advertised, logging, resource_updates, .. } = &*self.settings;
        let has = match kind {
            Kind::Tools => !self.offers.tools.is_empty(),
            Kind::Resources => {
                let Offers { resources, resource_templates, .. } = &*self.offers;
                *resource_updates || !resources.is_empty() || !resource_templates.is_empty()
            }
            Kind::Completions => {
                let Offers { resource_templates, prompts, .. } = &*self.offers;
                resource_templates.any(|template| !template.completers().is_empty())
                    || prompts.any(|prompt| !prompt.completers().is_empty())
            }
            Kind::Prompts => !self.offers.prompts.is_empty(),
            Kind::Logging => logging.is_some(),
            // What is advertised without being there would not be answered.
            Kind::Tasks => return self.offers_tasks(),
            _ => false,
        };
        has || advertised.has(kind.capability())
    }

    /// What is advertised: what was asked for, and what is there.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = self.settings.advertised.clone();
        if !self.offers.tools.is_empty() {
            capabilities.tools.get_or_insert_with(|| ToolsCapability::default().list_changed(true));
        }
        if self.offers(Kind::Resources) {
            let listed = || ResourcesCapability::default().list_changed(true);
            capabilities.resources.get_or_insert_with(listed).subscribe |= self.settings.resource_updates;
        }
        if !self.offers.prompts.is_empty() {
            capabilities.prompts.get_or_insert_with(|| PromptsCapability::default().list_changed(true));
        }
        if self.offers(Kind::Completions) {
            capabilities.completions.get_or_insert_with(JsonObject::new);
        }
        if self.settings.logging.is_some() {
            capabilities.logging.get_or_insert_with(JsonObject::new);
        }
        if self.offers_tasks() {
            // Which of the two a client is told, its revision decides.
            capabilities.tasks.get_or_insert_with(core_tasks);
            let extensions = capabilities.extensions.get_or_insert_with(JsonObject::new);
            extensions.entry(task_extension::NAME).or_insert_with(|| JsonObject::new().into());
        }
        capabilities
    }

    /// Whether calls run as tasks: there is a tool that does, or there will be.
    fn offers_tasks(&self) -> bool {
        let is_advertised = |advertised: &ServerCapabilities| {
            let extensions = advertised.extensions.as_ref();
            advertised.tasks.is_some()
                || extensions.is_some_and(|names| names.contains_key(task_extension::NAME))
        };
        let may_run =
            |tool: &ServerTool| matches!(tool.task_support(), TaskSupport::Optional | TaskSupport::Required);
        self.settings.tasks.is_some()
            && (is_advertised(&self.settings.advertised) || self.offers.tools.any(may_run))
    }
}

/// What a client of 2025-11-25 is told.
fn core_tasks() -> ServerTasksCapability {
    let requests = ServerTaskRequests::default().tools(ToolTasks::default().call(JsonObject::new()));
    ServerTasksCapability::default().list(JsonObject::new()).cancel(JsonObject::new()).requests(requests)
}
