//! Client and server capabilities, kept with unknown members. `has` looks a capability up by a path such as
//! `resources.subscribe`.

use agentwire_wire_derive::Wire;

use crate::JsonObject;
use crate::tasks::core::{ClientTasksCapability, ServerTasksCapability};

/// The capabilities of a client.
///
/// A member that is there, even as `{}`, is a capability, and what we do not know of is kept.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation>.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// It can list its folders.
    #[wire(capability)]
    pub roots: Option<RootsCapability>,
    /// It lets the server ask its language model.
    #[wire(capability)]
    pub sampling: Option<SamplingCapability>,
    /// It lets the server ask its user. Since 2025-06-18.
    #[wire(capability)]
    pub elicitation: Option<ElicitationCapability>,
    /// It runs some requests as tasks. Only 2025-11-25.
    #[wire(capability)]
    pub tasks: Option<ClientTasksCapability>,
    /// Extensions of the protocol, by name, with their settings. Since 2026-07-28.
    #[wire(
        optional,
        schema(with = "Option<std::collections::BTreeMap<String, crate::schema::JsonObjectSchema>>")
    )]
    pub extensions: Option<JsonObject>,
    /// Things outside the protocol, by name.
    #[wire(
        optional,
        schema(with = "Option<std::collections::BTreeMap<String, crate::schema::JsonObjectSchema>>")
    )]
    pub experimental: Option<JsonObject>,
    /// Capabilities that this version of the library does not know.
    #[wire(extra)]
    pub other: JsonObject,
}

empty!(ClientCapabilities);
setters!(ClientCapabilities {
    some roots: RootsCapability,
    some sampling: SamplingCapability,
    some elicitation: ElicitationCapability,
    some tasks: ClientTasksCapability,
    some extensions: JsonObject,
    some experimental: JsonObject,
    set other: JsonObject,
});

impl ClientCapabilities {
    /// Whether it has the capability at `path`, such as `roots` or `elicitation.url`.
    ///
    /// A client that sends `elicitation: {}` can do forms, so it has `elicitation.form`.
    pub fn has(&self, path: &str) -> bool {
        match path {
            "roots" => self.roots.is_some(),
            "roots.listChanged" => self.roots.as_ref().is_some_and(|roots| roots.list_changed),
            "sampling" => self.sampling.is_some(),
            "sampling.context" => self.sampling.as_ref().is_some_and(|sampling| sampling.context.is_some()),
            "sampling.tools" => self.sampling.as_ref().is_some_and(|sampling| sampling.tools.is_some()),
            "elicitation" => self.elicitation.is_some(),
            "elicitation.form" => self.elicitation.as_ref().is_some_and(ElicitationCapability::has_form),
            "elicitation.url" => self.elicitation.as_ref().is_some_and(|modes| modes.url.is_some()),
            "experimental" => self.experimental.is_some(),
            path if path.starts_with("tasks") => self.tasks.as_ref().is_some_and(|tasks| tasks.has(path)),
            path => match path.strip_prefix("extensions.") {
                Some(name) => {
                    self.extensions.as_ref().is_some_and(|extensions| extensions.contains_key(name))
                }
                None => self.other.contains_key(path),
            },
        }
    }
}

/// The capabilities of a server.
///
/// A member that is there, even as `{}`, is a capability, and what we do not know of is kept.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation>.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// It has tools.
    #[wire(capability)]
    pub tools: Option<ToolsCapability>,
    /// It has resources.
    #[wire(capability)]
    pub resources: Option<ResourcesCapability>,
    /// It has prompts.
    #[wire(capability)]
    pub prompts: Option<PromptsCapability>,
    /// It sends log messages.
    #[wire(capability, schema(with = "Option<crate::schema::JsonObjectSchema>"))]
    pub logging: Option<JsonObject>,
    /// It completes arguments. Since 2025-03-26; before, there is no capability for it.
    #[wire(capability, schema(with = "Option<crate::schema::JsonObjectSchema>"))]
    pub completions: Option<JsonObject>,
    /// It runs some requests as tasks. Only 2025-11-25.
    #[wire(capability)]
    pub tasks: Option<ServerTasksCapability>,
    /// Extensions of the protocol, by name, with their settings. Since 2026-07-28.
    #[wire(
        optional,
        schema(with = "Option<std::collections::BTreeMap<String, crate::schema::JsonObjectSchema>>")
    )]
    pub extensions: Option<JsonObject>,
    /// Things outside the protocol, by name.
    #[wire(
        optional,
        schema(with = "Option<std::collections::BTreeMap<String, crate::schema::JsonObjectSchema>>")
    )]
    pub experimental: Option<JsonObject>,
    /// Capabilities that this version of the library does not know.
    #[wire(extra)]
    pub other: JsonObject,
}

empty!(ServerCapabilities);
setters!(ServerCapabilities {
    some tools: ToolsCapability,
    some resources: ResourcesCapability,
    some prompts: PromptsCapability,
    some logging: JsonObject,
    some completions: JsonObject,
    some tasks: ServerTasksCapability,
    some extensions: JsonObject,
    some experimental: JsonObject,
    set other: JsonObject,
});

impl ServerCapabilities {
    /// Whether it has the capability at `path`, such as `tools` or `resources.subscribe`.
    pub fn has(&self, path: &str) -> bool {
        match path {
            "tools" => self.tools.is_some(),
            "tools.listChanged" => self.tools.as_ref().is_some_and(|tools| tools.list_changed),
            "resources" => self.resources.is_some(),
            "resources.listChanged" => {
                self.resources.as_ref().is_some_and(|resources| resources.list_changed)
            }
            "resources.subscribe" => self.resources.as_ref().is_some_and(|resources| resources.subscribe),
            "prompts" => self.prompts.is_some(),
            "prompts.listChanged" => self.prompts.as_ref().is_some_and(|prompts| prompts.list_changed),
            "logging" => self.logging.is_some(),
            "completions" => self.completions.is_some(),
            "experimental" => self.experimental.is_some(),
            path if path.starts_with("tasks") => self.tasks.as_ref().is_some_and(|tasks| tasks.has(path)),
            path => match path.strip_prefix("extensions.") {
                Some(name) => {
                    self.extensions.as_ref().is_some_and(|extensions| extensions.contains_key(name))
                }
                None => self.other.contains_key(path),
            },
        }
    }
}

macro_rules! list_capability {
    ($( $(#[$attribute:meta])* $name:ident )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire)]
            #[non_exhaustive]
            pub struct $name {
                /// Whether it sends a notification when the list changes.
                #[wire(flag)]
                pub list_changed: bool,
                /// Members that this version of the library does not know.
                #[wire(extra)]
                pub other: JsonObject,
            }

            empty!($name);
            setters!($name {
                set list_changed: bool,
                set other: JsonObject,
            });
        )+
    };
}

list_capability! {
    /// How a client handles its roots.
    RootsCapability
    /// How a server handles its tools.
    ToolsCapability
    /// How a server handles its prompts.
    PromptsCapability
}

/// How a server handles its resources.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Whether a client can subscribe to changes of one resource.
    #[wire(flag)]
    pub subscribe: bool,
    /// Whether it sends a notification when the list changes.
    #[wire(flag)]
    pub list_changed: bool,
    /// Members that this version of the library does not know.
    #[wire(extra)]
    pub other: JsonObject,
}

empty!(ResourcesCapability);
setters!(ResourcesCapability {
    set subscribe: bool,
    set list_changed: bool,
    set other: JsonObject,
});

/// The parts of a client's sampling, which are named since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// It honours `includeContext` other than `none`.
    #[wire(capability, schema(with = "Option<crate::schema::JsonObjectSchema>"))]
    pub context: Option<JsonObject>,
    /// It lets the model use tools that the request offers.
    #[wire(capability, schema(with = "Option<crate::schema::JsonObjectSchema>"))]
    pub tools: Option<JsonObject>,
    /// Members that this version of the library does not know.
    #[wire(extra)]
    pub other: JsonObject,
}

empty!(SamplingCapability);
setters!(SamplingCapability {
    some context: JsonObject,
    some tools: JsonObject,
    set other: JsonObject,
});

/// The ways in which a client can ask its user. They are named since 2025-11-25; without any, it does forms.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// It shows a form.
    #[wire(capability, schema(with = "Option<crate::schema::JsonObjectSchema>"))]
    pub form: Option<JsonObject>,
    /// It sends the user to a web page.
    #[wire(capability, schema(with = "Option<crate::schema::JsonObjectSchema>"))]
    pub url: Option<JsonObject>,
    /// Members that this version of the library does not know.
    #[wire(extra)]
    pub other: JsonObject,
}

empty!(ElicitationCapability);
setters!(ElicitationCapability {
    some form: JsonObject,
    some url: JsonObject,
    set other: JsonObject,
});

impl ElicitationCapability {
    /// Whether it shows forms: it lists them, or it lists nothing, which means forms to older peers.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }
}
