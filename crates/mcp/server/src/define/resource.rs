//! `ServerResource`: a resource's definition, its function and its layers.

use std::future::Future;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson, RequestMethod};
use agentwire_mcp_schema::{
    Annotations, BlobResourceContents, CacheScope, Icon, ReadResourceRequest, ReadResourceResult, Resource,
    ResourceContents, Revision, TextResourceContents, code,
};

use crate::caching::Caching;
use crate::define::function::{Argument, kind};
use crate::define::layers::RawCall;
use crate::define::names::check_uri;
use crate::define::registered::{Registered, RegisteredKind};
use crate::request::request_future::HandlerFuture;
use crate::{BoxError, Context, Function};

/// A resource: its definition, which clients see, the function that reads it, and the layers around that.
///
/// ```
/// # use agentwire_mcp_server::{Context, Server, ServerResource};
/// async fn motto(_uri: String, _cx: Context) -> &'static str { "Simple and finished." }
///
/// let resource = ServerResource::new("memo:///motto", "motto", motto).mime_type("text/plain");
/// let server = Server::new("memo", "1.0.0").with_resource(resource);
/// ```
pub type ServerResource = Registered<kind::Resource>;

impl ServerResource {
    /// Creates a resource from its URI, a name for programs, and the function that reads it, which may take the URI.
    ///
    /// # Panics
    ///
    /// If the URI has no scheme, or contains white space or control characters.
    #[track_caller]
    pub fn new<F: Function<kind::Resource, M, Future: Future<Output: IntoResourceContents> + Send>, M>(
        uri: impl Into<String>,
        name: impl Into<String>,
        function: F,
    ) -> Self {
        let uri = uri.into();
        check_uri(&uri);
        let definition = Resource::new(uri.clone(), name);
        Self::with_function(definition, Caching::default(), |state| {
            move |resource, (), context| {
                let future = function.call(state.get(), F::Argument::read(&uri)?, context.clone());
                let mime_type = resource.definition().mime_type.clone();
                Ok(read(future, uri.clone(), mime_type, resource.extra.clone(), context))
            }
        })
    }

    /// Sets its name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.edit(|resource| resource.title = Some(title.into()))
    }

    /// Sets its description for the model.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.edit(|resource| resource.description = Some(description.into()))
    }

    /// Sets its media type.
    #[must_use]
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        self.edit(|resource| resource.mime_type = Some(mime_type.into()))
    }

    /// Sets pictures to show it by. Since 2025-11-25.
    #[must_use]
    pub fn icons(self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.edit(|resource| resource.icons = icons.into_iter().collect())
    }

    /// Sets its audience and its priority.
    #[must_use]
    pub fn annotations(self, annotations: Annotations) -> Self {
        self.edit(|resource| resource.annotations = Some(annotations))
    }

    /// Sets how long a client may keep what it read, and for whom (default: not at all, and only for the client that
    /// asked). Sent since revision 2026-07-28.
    #[must_use]
    pub fn caching(mut self, time: Duration, scope: CacheScope) -> Self {
        self.extra = Caching::new(time, scope);
        self
    }
}

/// Wraps the function's future in one that returns the text to send.
pub(crate) fn read<O>(
    future: O,
    uri: String,
    mime_type: Option<String>,
    caching: Caching,
    context: Context,
) -> HandlerFuture
where
    O: Future<Output: IntoResourceContents> + Send + 'static,
{
    Box::pin(async move {
        let contents = future.await.into_resource_contents(&uri);
        let mut contents = contents.map_err(|error| in_revision(error, &uri, context.revision()))?;
        contents.iter_mut().for_each(|contents| name_type(contents, mime_type.as_ref()));
        let Caching { ttl, scope } = caching;
        context.encode(ReadResourceResult::new(contents).ttl_ms(ttl).cache_scope(scope))
    })
}

/// Sets the media type of the definition on contents that have none.
fn name_type(contents: &mut ResourceContents, mime_type: Option<&String>) {
    let place = match contents {
        ResourceContents::Text(text) => &mut text.mime_type,
        ResourceContents::Blob(blob) => &mut blob.mime_type,
        _ => return,
    };
    if place.is_none() {
        *place = mime_type.cloned();
    }
}

impl RegisteredKind for kind::Resource {
    type Extra = Caching;
    type Params = ();

    const NOUN: &'static str = "resource";
    const METHOD: &'static str = ReadResourceRequest::NAME;

    fn key(resource: &Resource) -> &str {
        &resource.uri
    }

    fn encode((): &()) -> Result<RawJson, String> {
        Ok(RawJson::EMPTY_OBJECT)
    }

    fn start_call(resource: &ServerResource, call: &RawCall) -> Result<HandlerFuture, String> {
        resource.start_function(&(), call.context().clone())
    }

    fn wrong_arguments(_uri: &str, why: &str, _context: &Context) -> Result<RawJson, ErrorObject> {
        Err(ErrorObject::internal_error(why))
    }
}

/// The result of reading a resource: text, bytes, contents of any kind, or a `Result` of these and any error. An [`ErrorObject`]
/// is the answer, also as the source of an error; any other error is answered as an internal error with its text.
#[diagnostic::on_unimplemented(
    message = "a resource cannot be read as `{Self}`",
    note = "give a `String`, a `Vec<u8>`, `ResourceContents`, an `Option` or a `Result` of one of them and an error: `BoxError`, or what implements `std::error::Error`"
)]
pub trait IntoResourceContents {
    /// The contents of the resource at `uri`.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn into_resource_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ErrorObject>;
}

#[diagnostic::do_not_recommend]
impl IntoResourceContents for Vec<ResourceContents> {
    fn into_resource_contents(self, _uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoResourceContents for ResourceContents {
    fn into_resource_contents(self, _uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        Ok(vec![self])
    }
}

#[diagnostic::do_not_recommend]
impl IntoResourceContents for TextResourceContents {
    fn into_resource_contents(self, _uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        Ok(vec![self.into()])
    }
}

#[diagnostic::do_not_recommend]
impl IntoResourceContents for BlobResourceContents {
    fn into_resource_contents(self, _uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        Ok(vec![self.into()])
    }
}

/// Sent as base64.
#[diagnostic::do_not_recommend]
impl IntoResourceContents for Vec<u8> {
    fn into_resource_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        ResourceContents::bytes(uri, self).into_resource_contents(uri)
    }
}

#[diagnostic::do_not_recommend]
impl IntoResourceContents for String {
    fn into_resource_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        Ok(vec![ResourceContents::text(uri, self)])
    }
}

#[diagnostic::do_not_recommend]
impl IntoResourceContents for &str {
    fn into_resource_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        self.to_owned().into_resource_contents(uri)
    }
}

/// `None` means that the resource does not exist. It becomes the error of the client's revision.
#[diagnostic::do_not_recommend]
impl<T: IntoResourceContents> IntoResourceContents for Option<T> {
    fn into_resource_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        self.ok_or_else(|| code::resource_not_found(uri))?.into_resource_contents(uri)
    }
}

/// The error for an unknown resource has another code since 2026-07-28.
fn in_revision(mut error: ErrorObject, uri: &str, revision: Revision) -> ErrorObject {
    if error.code == code::RESOURCE_NOT_FOUND {
        error.code = code::missing_resource(uri, revision).code;
    }
    error
}

#[diagnostic::do_not_recommend]
impl<T: IntoResourceContents, E: Into<BoxError>> IntoResourceContents for Result<T, E> {
    fn into_resource_contents(self, uri: &str) -> Result<Vec<ResourceContents>, ErrorObject> {
        self.map_err(Into::into)?.into_resource_contents(uri)
    }
}
