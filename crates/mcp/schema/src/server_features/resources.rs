//! The params and results of the `resources/*` methods, the `Resource` and `ResourceTemplate` types, and the resource
//! notifications.

use agentwire_wire_derive::Wire;

use crate::{Annotations, Icon, InputResponses, Meta, ResourceContents};

resource_type! {
    /// Data that the server lets the client read, such as a file.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/resources>.
    Resource
}

/// A family of resources, whose URIs are made by filling in a template.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template, in the notation of RFC 6570.
    #[wire(required, schema(extend("format" = "uri-template")))]
    pub uri_template: String,
    /// Its name for programs.
    #[wire(expected)]
    pub name: String,
    /// Its name for people. Since 2025-06-18.
    #[wire(optional)]
    pub title: Option<String>,
    /// The purpose of the resource, in words for the model.
    #[wire(optional)]
    pub description: Option<String>,
    /// The media type, if all resources of the template share one.
    #[wire(optional)]
    pub mime_type: Option<String>,
    /// Icons to show for it. Since 2025-11-25.
    #[wire(plain_list)]
    pub icons: Vec<Icon>,
    /// Their audience and priority.
    #[wire(optional)]
    pub annotations: Option<Annotations>,
    /// Extension metadata. Since 2025-06-18.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ResourceTemplate {
    /// A template of that name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            icons: Vec::new(),
            annotations: None,
            meta: None,
        }
    }
}

setters!(ResourceTemplate {
    some title: String,
    some description: String,
    some mime_type: String,
    list icons: Icon,
    some annotations: Annotations,
    some meta: Meta,
});

list_method! {
    /// Asks for the server's resources.
    ListResourcesRequest,
    /// A page of the server's resources.
    ListResourcesResult {
        /// The resources.
        resources = "resources": Resource
    }
}

list_method! {
    /// Asks for the server's resource templates.
    ListResourceTemplatesRequest,
    /// A page of the server's resource templates.
    ListResourceTemplatesResult {
        /// The templates.
        resource_templates = "resourceTemplates": ResourceTemplate
    }
}

macro_rules! uri_request {
    ($( $(#[$attribute:meta])* $request:ident; )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, PartialEq, Eq, agentwire_wire_derive::Wire)]
            #[non_exhaustive]
            pub struct $request {
                /// The URI of the resource.
                #[wire(required, schema(extend("format" = "uri")))]
                pub uri: String,
                /// Extension metadata.
                #[wire(strict_meta)]
                pub meta: Option<Meta>,
            }

            impl $request {
                /// The resource at that URI.
                pub fn new(uri: impl Into<String>) -> Self {
                    Self { uri: uri.into(), meta: None }
                }
            }

            setters!($request {
                some meta: Meta,
            });

            has_meta!($request);
        )+
    };
}

/// Reads a resource. For a missing one, the error is [`code::RESOURCE_NOT_FOUND`](crate::code) or, since
/// 2026-07-28, invalid params.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct ReadResourceRequest {
    /// The URI of the resource.
    #[wire(required, schema(extend("format" = "uri")))]
    pub uri: String,
    /// The client's answers to an [`InputRequiredResult`](crate::InputRequiredResult). Since 2026-07-28.
    #[wire(optional, schema(with = "Option<crate::schema::InputResponsesSchema>"))]
    pub input_responses: Option<std::collections::BTreeMap<String, crate::InputResponse>>,
    /// The state from that result, returned without being read. Since 2026-07-28.
    #[wire(optional)]
    pub request_state: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ReadResourceRequest {
    /// The resource at that URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), input_responses: None, request_state: None, meta: None }
    }
}

setters!(ReadResourceRequest {
    some input_responses: InputResponses,
    some request_state: String,
    some meta: Meta,
});

uri_request! {
    /// Subscribes to changes of a resource.
    SubscribeRequest;
    /// Ends the subscription to a resource.
    UnsubscribeRequest;
}

/// The contents of a resource; several parts if it stands for several, such as a folder.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The parts.
    #[wire(required)]
    pub contents: Vec<ResourceContents>,
    /// The kind of this result; absent means complete. Since 2026-07-28.
    #[wire(optional)]
    pub result_type: Option<crate::ResultType>,
    /// For how many milliseconds it may be cached; absent or negative means 0, not at all. Since 2026-07-28.
    #[wire(optional, read = crate::wire::time_to_live, schema(with = "Option<crate::schema::Milliseconds>"))]
    pub ttl_ms: Option<u64>,
    /// The users that may get the cached result. Since 2026-07-28.
    #[wire(optional)]
    pub cache_scope: Option<crate::CacheScope>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ReadResourceResult {
    /// These parts.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self { contents, ..Self::default() }
    }
}

setters!(ReadResourceResult {
    some result_type: crate::ResultType,
    some ttl_ms: u64,
    some cache_scope: crate::CacheScope,
    some meta: Meta,
});

/// A resource that the client subscribed to, or a part of it, has changed.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ResourceUpdatedNotification {
    /// The URI of the resource.
    #[wire(required, schema(extend("format" = "uri")))]
    pub uri: String,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ResourceUpdatedNotification {
    /// The resource at that URI changed.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None }
    }
}

setters!(ResourceUpdatedNotification {
    some meta: Meta,
});

bare_notification! {
    /// The server's resources have changed: a client that has listed them should list them again.
    ResourceListChangedNotification;
}

has_meta!(ResourceTemplate, ReadResourceRequest, ReadResourceResult, ResourceUpdatedNotification);
