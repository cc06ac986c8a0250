//! Registers tools, resources, resource templates and prompts, before and while a server serves.

use std::future::Future;

use super::Server;
use crate::define::function::kind;
use crate::define::registered::{Registered, RegisteredKind};
use crate::define::registry::Registry;
use crate::listeners::Change;
use crate::{
    Function, IntoPromptResult, IntoResourceContents, IntoToolResult, ServerPrompt, ServerResource,
    ServerResourceTemplate, ServerTool,
};

/// The items that a server offers.
impl Server {
    /// Offers a tool: its name (1 to 128 of `A-Z a-z 0-9 _ - .`), a description for the model, and its function.
    ///
    /// The function takes [`State`](crate::State), its arguments as one type, which gives the schema, and a
    /// [`Context`](crate::Context): in this order, and only what it needs. See [`Function`]. [`IntoToolResult`] lists what
    /// it may return.
    ///
    /// ```
    /// use agentwire_mcp_server::Server;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Greet {
    ///     /// Who is greeted.
    ///     name: String,
    /// }
    ///
    /// async fn greet(Greet { name }: Greet) -> String { format!("Hello {name}") }
    ///
    /// let server = Server::new("greeter", "1.0.0").tool("greet", "Greet someone", greet);
    /// # let _ = server;
    /// ```
    ///
    /// # Panics
    ///
    /// When the name is invalid or taken, the server lacks the function's state, the argument type is not one whose JSON is
    /// an object, or a mark `x-mcp-header` in it is wrong.
    #[must_use]
    #[track_caller]
    pub fn tool<F: Function<kind::Tool, M, Future: Future<Output: IntoToolResult> + Send>, M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self {
        self.with_tool(ServerTool::new(name, description, function))
    }

    /// Offers a tool with further properties.
    ///
    /// # Panics
    ///
    /// When its name is taken, the server lacks its function's state, or a mark `x-mcp-header` in its schema is wrong.
    #[must_use]
    #[track_caller]
    pub fn with_tool(self, tool: ServerTool) -> Self {
        self.parts.registries.tools.check_is_new(tool.key());
        self.add_tool(tool);
        self
    }

    /// Offers a resource: its URI, its name for programs, and the function that reads it, which may take the URI.
    ///
    /// # Panics
    ///
    /// When the URI is invalid or taken, or the server lacks the function's state.
    #[must_use]
    #[track_caller]
    pub fn resource<
        F: Function<kind::Resource, M, Future: Future<Output: IntoResourceContents> + Send>,
        M,
    >(
        self,
        uri: impl Into<String>,
        name: impl Into<String>,
        function: F,
    ) -> Self {
        self.with_resource(ServerResource::new(uri, name, function))
    }

    /// Offers a resource with further properties.
    ///
    /// # Panics
    ///
    /// When the URI is taken, or the server lacks the function's state.
    #[must_use]
    #[track_caller]
    pub fn with_resource(self, resource: ServerResource) -> Self {
        self.parts.registries.resources.check_is_new(resource.key());
        self.add_resource(resource);
        self
    }

    /// Offers resources that are not listed one by one: the template of their URIs, a name for programs, and the
    /// function that reads each, which gets the values of the template's variables. See [`ServerResourceTemplate`].
    ///
    /// # Panics
    ///
    /// When [`UriTemplate`](crate::UriTemplate) does not take the template, the template is registered already, a variable is not
    /// a member of the argument type, a required member is not a variable, or the server lacks the function's state.
    #[must_use]
    #[track_caller]
    pub fn resource_template<
        F: Function<kind::ResourceTemplate, M, Future: Future<Output: IntoResourceContents> + Send>,
        M,
    >(
        self,
        uri_template: impl Into<String>,
        name: impl Into<String>,
        function: F,
    ) -> Self {
        self.with_resource_template(ServerResourceTemplate::new(uri_template, name, function))
    }

    /// Offers a resource template with further properties.
    ///
    /// # Panics
    ///
    /// When the template is taken, or the server lacks the state of its functions.
    #[must_use]
    #[track_caller]
    pub fn with_resource_template(self, template: ServerResourceTemplate) -> Self {
        self.parts.registries.resource_templates.check_is_new(template.key());
        self.add_resource_template(template);
        self
    }

    /// Offers a prompt: its name, what it is for, and the function that fills it in. See [`ServerPrompt`].
    ///
    /// # Panics
    ///
    /// When the name is invalid or taken, the server lacks the function's state, or the argument type is not one whose JSON is an
    /// object, or a member of it cannot be read from text, such as a `Vec`.
    #[must_use]
    #[track_caller]
    pub fn prompt<F: Function<kind::Prompt, M, Future: Future<Output: IntoPromptResult> + Send>, M>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self {
        self.with_prompt(ServerPrompt::new(name, description, function))
    }

    /// Offers a prompt with further properties.
    ///
    /// # Panics
    ///
    /// When the name is taken, or the server lacks the state of its functions.
    #[must_use]
    #[track_caller]
    pub fn with_prompt(self, prompt: ServerPrompt) -> Self {
        self.parts.registries.prompts.check_is_new(prompt.key());
        self.add_prompt(prompt);
        self
    }

    /// Adds a tool, in the place of the one with the same name if there is one, and notifies clients.
    ///
    /// # Panics
    ///
    /// When the server lacks its function's state, or a mark `x-mcp-header` in its schema is wrong
    /// ([`Tool::header_marks`](crate::schema::Tool::header_marks)).
    #[track_caller]
    pub fn add_tool(&self, tool: ServerTool) {
        self.add(&self.parts.registries.tools, tool, Change::Tools);
    }

    /// Removes a tool and notifies clients. Running calls go on. False if there is none.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.announce_removal(Change::Tools, self.parts.registries.tools.remove(name))
    }

    /// Adds a resource, in the place of the one with the same URI if there is one, and notifies clients.
    ///
    /// # Panics
    ///
    /// When the server lacks its function's state.
    #[track_caller]
    pub fn add_resource(&self, resource: ServerResource) {
        self.answers.for_resources();
        self.add(&self.parts.registries.resources, resource, Change::Resources);
    }

    /// Removes the resource at that URI and notifies clients. False if there is none.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.announce_removal(Change::Resources, self.parts.registries.resources.remove(uri))
    }

    /// Adds a resource template, in the place of the one with the same text if there is one, and notifies clients.
    ///
    /// # Panics
    ///
    /// When the server lacks the state of its functions.
    #[track_caller]
    pub fn add_resource_template(&self, template: ServerResourceTemplate) {
        self.answers.for_resources();
        self.answers.for_completions();
        self.add(&self.parts.registries.resource_templates, template, Change::Resources);
    }

    /// Removes the resource template with that text and notifies clients. False if there is none.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        self.announce_removal(
            Change::Resources,
            self.parts.registries.resource_templates.remove(uri_template),
        )
    }

    /// Adds a prompt, in the place of the one with the same name if there is one, and notifies clients.
    ///
    /// # Panics
    ///
    /// When the server lacks the state of its functions.
    #[track_caller]
    pub fn add_prompt(&self, prompt: ServerPrompt) {
        self.answers.for_prompts();
        self.answers.for_completions();
        self.add(&self.parts.registries.prompts, prompt, Change::Prompts);
    }

    /// Removes a prompt and notifies clients. False if there is none.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.announce_removal(Change::Prompts, self.parts.registries.prompts.remove(name))
    }

    #[track_caller]
    fn add<K: RegisteredKind>(&self, registry: &Registry<K>, mut item: Registered<K>, change: Change<'_>) {
        item.prepare(&self.parts.settings.states);
        registry.add(item);
        self.parts.settings.listeners.announce(change);
    }

    fn announce_removal(&self, change: Change<'_>, removed: bool) -> bool {
        if removed {
            self.parts.settings.listeners.announce(change);
        }
        removed
    }
}
