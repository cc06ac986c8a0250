use agentwire_jsonrpc::{Method, Notice};
use serde::{Deserialize, Serialize};

use crate::wire::null_as_default;
use crate::{Annotations, EmptyResult, Icon, Meta, ResourceContents};

/// Something that the server lets the client read, such as a file.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/server/resources>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Where it is, and what it is read by.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people. Since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, in words for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its length in bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Pictures to show it by. Since 2025-11-25.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// For whom it is and how much it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Attachments. Since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Resource {
    /// The resource of that name at that URI.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            icons: Vec::new(),
            annotations: None,
            meta: None,
        }
    }
}

setters!(Resource {
    some title: String,
    some description: String,
    some mime_type: String,
    some size: u64,
    set icons: Vec<Icon>,
    some annotations: Annotations,
    some meta: Meta,
});

/// A family of resources, whose URIs are made by filling in a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template, in the notation of RFC 6570.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people. Since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for, in words for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type, where all that fit the template share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Pictures to show it by. Since 2025-11-25.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// For whom they are and how much they matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Attachments. Since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
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
    set icons: Vec<Icon>,
    some annotations: Annotations,
    some meta: Meta,
});

list_method! {
    "resources/list",
    /// Asks for the server's resources.
    ListResourcesRequest,
    /// A page of the server's resources.
    ListResourcesResult {
        /// The resources.
        resources: Resource
    }
}

list_method! {
    "resources/templates/list",
    /// Asks for the server's resource templates.
    ListResourceTemplatesRequest,
    /// A page of the server's resource templates.
    ListResourceTemplatesResult {
        /// The templates.
        resource_templates: ResourceTemplate
    }
}

macro_rules! uri_request {
    ($( $(#[$attribute:meta])* $request:ident = $name:literal => $response:ident; )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
            #[non_exhaustive]
            pub struct $request {
                /// Which resource.
                pub uri: String,
                /// Attachments.
                #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
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

            impl Method for $request {
                const NAME: &'static str = $name;
                type Response = $response;
            }

            has_meta!($request);
        )+
    };
}

uri_request! {
    /// Reads a resource. Where there is none, the error is [`code::RESOURCE_NOT_FOUND`](crate::code).
    ReadResourceRequest = "resources/read" => ReadResourceResult;
    /// Asks to hear when a resource changes.
    SubscribeRequest = "resources/subscribe" => EmptyResult;
    /// Asks to hear of it no longer.
    UnsubscribeRequest = "resources/unsubscribe" => EmptyResult;
}

/// What is in a resource; several parts where it stands for several, such as a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The parts.
    pub contents: Vec<ResourceContents>,
    /// Attachments.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ReadResourceResult {
    /// These parts.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self { contents, meta: None }
    }
}

setters!(ReadResourceResult {
    some meta: Meta,
});

/// A resource that the client subscribed to, or a part of it, is another now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceUpdatedNotification {
    /// Which resource.
    pub uri: String,
    /// Attachments.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
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

impl Notice for ResourceUpdatedNotification {
    const NAME: &'static str = "notifications/resources/updated";
}

bare_notification! {
    /// The server's resources are others now: whoever listed them should do so again.
    ResourceListChangedNotification = "notifications/resources/list_changed";
}

has_meta!(Resource, ResourceTemplate, ReadResourceResult, ResourceUpdatedNotification);
