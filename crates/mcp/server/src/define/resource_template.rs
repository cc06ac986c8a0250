//! A family of resources: the template of their URIs, and the function that reads each.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson, RequestMethod};
use agentwire_mcp_schema::{Annotations, CacheScope, Icon, ReadResourceRequest, ResourceTemplate};

use crate::caching::Caching;
use crate::define::function::{Argument, kind};
use crate::define::layers::RawCall;
use crate::define::registered::{Completable, Registered, RegisteredKind};
use crate::define::resource::read;
use crate::request::request_future::HandlerFuture;
use crate::{Context, Function, IntoResourceContents, UriTemplate};

/// A family of resources: the template of their URIs, and the function that reads each.
///
/// The members of the function's argument type are the template's variables. They arrive as text, percent-decoded, so
/// each is a `String`, a number, a `bool`, an enum of strings, or, if it may be left out, an `Option` of these. If the values
/// of a URI do not fit the type, the URI names no resource. The values are written by the client, and may
/// contain `/`, `\` and `..`, but no NUL: check them before they become part of a path, or
/// [take single segments only](Self::segments_only).
///
/// ```
/// # use agentwire_mcp_server::{Context, ErrorObject, PartialArgument, Server, ServerResourceTemplate};
/// #[derive(serde::Deserialize)]
/// struct Forecast {
///     city: String,
///     day: Option<u8>,
/// }
///
/// async fn forecast(Forecast { city, day }: Forecast, _cx: Context) -> String {
///     format!("The weather in {city} in {} days", day.unwrap_or(0))
/// }
///
/// async fn cities(typed: PartialArgument, _cx: Context) -> Vec<String> {
///     typed.among(["Paris", "Prague"])
/// }
///
/// let forecasts = ServerResourceTemplate::new("weather:///{city}{?day}", "forecast", forecast)
///     .mime_type("text/plain")
///     .complete("city", cities);
/// let server = Server::new("weather", "1.0.0").with_resource_template(forecasts);
/// ```
///
/// A resource that is registered under its own URI comes before those of templates, and of these the template that was
/// registered first.
pub type ServerResourceTemplate = Registered<kind::ResourceTemplate>;

/// The data of a resource template beside its definition.
pub(crate) struct TemplateExtra {
    template: UriTemplate,
    caching: Caching,
    segments_only: bool,
    check: fn(&Values) -> Result<(), String>,
    check_variables: CheckVariables,
}

/// The values of variables, by their names.
pub(crate) type Values = BTreeMap<String, String>;

/// A URI that a template makes, with the values of its variables.
pub(crate) struct TemplateMatch {
    pub(crate) uri: String,
    pub(crate) values: Values,
}

impl ServerResourceTemplate {
    /// Creates a template from the URI template, a name for programs, and the function that reads the resources. The function
    /// gets the values of the variables.
    ///
    /// # Panics
    ///
    /// When [`UriTemplate`] does not take the template, a variable is not a member of the argument type, a required member is not
    /// a variable, or a member cannot be read from text, such as a `Vec`.
    #[track_caller]
    pub fn new<F, M>(uri_template: impl Into<String>, name: impl Into<String>, function: F) -> Self
    where
        F: Function<kind::ResourceTemplate, M>,
        F::Future: Future<Output: IntoResourceContents> + Send,
    {
        let definition = ResourceTemplate::new(uri_template, name);
        let extra = TemplateExtra {
            template: parse(&definition.uri_template, F::Argument::check),
            caching: Caching::default(),
            segments_only: false,
            check: |values| F::Argument::read(values).map(drop),
            check_variables: F::Argument::check,
        };
        Self::with_function(definition, extra, |state| {
            move |template, TemplateMatch { uri, values }, context| {
                let future = function.call(state.get(), F::Argument::read(values)?, context.clone());
                let mime_type = template.definition().mime_type.clone();
                Ok(read(future, uri.clone(), mime_type, template.extra.caching.clone(), context))
            }
        })
    }

    /// Sets its name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.edit(|template| template.title = Some(title.into()))
    }

    /// Sets the description of these resources for the model.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.edit(|template| template.description = Some(description.into()))
    }

    /// Sets the media type, if all of these resources have the same one.
    #[must_use]
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        self.edit(|template| template.mime_type = Some(mime_type.into()))
    }

    /// Sets pictures to show it by. Since 2025-11-25.
    #[must_use]
    pub fn icons(self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.edit(|template| template.icons = icons.into_iter().collect())
    }

    /// Sets the audience and the priority of these resources.
    #[must_use]
    pub fn annotations(self, annotations: Annotations) -> Self {
        self.edit(|template| template.annotations = Some(annotations))
    }

    /// Sets how long a client may keep what it read, and for whom (default: not at all, and only for the client that
    /// asked). Sent since revision 2026-07-28.
    #[must_use]
    pub fn caching(mut self, time: Duration, scope: CacheScope) -> Self {
        self.extra.caching = Caching::new(time, scope);
        self
    }

    /// Accepts only URIs in which each value is one segment of a path: it contains neither `/` nor `\`, and is not empty, `.`
    /// or `..` (default: any values). Other URIs name no resource.
    #[must_use]
    pub fn segments_only(mut self) -> Self {
        self.extra.segments_only = true;
        self
    }

    /// The values of the variables, if that is the URI of one of these resources.
    pub(crate) fn values_of(&self, uri: &str) -> Option<Values> {
        let TemplateExtra { template, segments_only, check, .. } = &self.extra;
        let may_be = |values: &Values| !segments_only || values.values().all(|value| is_segment(value));
        template.matches(uri).filter(|values| may_be(values) && check(values).is_ok())
    }
}

/// Whether a value is a single segment of a path.
fn is_segment(value: &str) -> bool {
    !matches!(value, "" | "." | "..") && !value.contains(['/', '\\'])
}

/// Checks that the variables of a template fit the arguments of its function.
type CheckVariables = fn(&[&str]) -> Result<(), String>;

#[track_caller]
fn parse(uri_template: &str, check: CheckVariables) -> UriTemplate {
    let template: UriTemplate = match uri_template.parse() {
        Ok(template) => template,
        Err(wrong) => panic!("the resource template `{uri_template}`: {wrong}"),
    };
    if let Err(wrong) = check(&template.variables().collect::<Vec<_>>()) {
        panic!("the resource template `{uri_template}`: {wrong}");
    }
    template
}

impl RegisteredKind for kind::ResourceTemplate {
    type Extra = TemplateExtra;
    type Params = TemplateMatch;

    const NOUN: &'static str = "resource template";
    const METHOD: &'static str = ReadResourceRequest::NAME;

    fn key(template: &ResourceTemplate) -> &str {
        &template.uri_template
    }

    #[track_caller]
    fn edited(template: &ResourceTemplate, extra: &mut TemplateExtra) {
        if template.uri_template != extra.template.as_str() {
            extra.template = parse(&template.uri_template, extra.check_variables);
        }
    }

    fn encode(params: &TemplateMatch) -> Result<RawJson, String> {
        RawJson::encode(&params.values).map_err(|error| error.to_string())
    }

    fn call_name<'a>(_: &'a ResourceTemplate, params: &'a TemplateMatch) -> &'a str {
        &params.uri
    }

    fn start_call(template: &ServerResourceTemplate, call: &RawCall) -> Result<HandlerFuture, String> {
        let values = call.arguments().decode().map_err(|error| error.to_string())?;
        let params = TemplateMatch { uri: call.name().to_owned(), values };
        template.start_function(&params, call.context().clone())
    }

    fn wrong_arguments(_uri: &str, why: &str, _context: &Context) -> Result<RawJson, ErrorObject> {
        Err(ErrorObject::internal_error(why))
    }
}

impl Completable for kind::ResourceTemplate {
    fn has_argument(template: &ServerResourceTemplate, name: &str) -> bool {
        template.extra.template.variables().any(|variable| variable == name)
    }

    fn no_argument(template: &str, name: &str) -> String {
        format!("`{template}` has no variable `{name}`")
    }
}
