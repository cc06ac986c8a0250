use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson, RequestMethod};
use agentwire_mcp_schema::{Annotations, CacheScope, Icon, ReadResourceRequest, ResourceTemplate, Revision};
use serde_json::value::RawValue;

use crate::CallLayer;
use crate::caching::Caching;
use crate::define::completion::{Completable, Completers};
use crate::define::function::{Argument, kind};
use crate::define::layers;
use crate::define::layers::{Layers, Next, RawCall, Target};
use crate::define::registry::{Definition, Entry};
use crate::define::resource::read;
use crate::define::state_slots::{StateSlots, States};
use crate::request::request_future::HandlerFuture;
use crate::{Context, Function, IntoCompletion, IntoResourceContents, UriTemplate};

/// A family of resources as the server holds it: the template of their URIs, and the function that reads each.
///
/// The members of the function's argument type are the template's variables. They arrive as text, percent-decoded, so
/// each is a `String`, a number, a `bool`, an enum of strings, or an `Option` of these where it may be left out. A URI
/// whose values are not what the type says is that of no resource. What is in a value was written by the client, and may
/// hold `/`, `\` and `..`, though no NUL: make no path of it unseen, or [take single segments only](Self::segments_only).
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
pub struct ServerResourceTemplate {
    definition: Definition<ResourceTemplate>,
    template: UriTemplate,
    caching: Caching,
    completers: Completers,
    segments_only: bool,
    layers: Layers,
    check: fn(&Values) -> Result<(), String>,
    check_variables: CheckVariables,
    states: StateSlots,
    run: Box<Run>,
}

/// The values of variables, by their names.
type Values = BTreeMap<String, String>;

/// It also takes the URI, and what is known only once the definition is complete.
type Run =
    dyn Fn(&Values, String, Option<String>, Caching, Context) -> Result<HandlerFuture, String> + Send + Sync;

impl ServerResourceTemplate {
    /// The resources whose URIs are made of that template, with a name for programs, and the function that reads them,
    /// which gets the values of the variables.
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
        let mut states = StateSlots::default();
        let state = states.add();
        let definition = ResourceTemplate::new(uri_template, name);
        let run = move |values: &Values, uri, mime_type, caching, context: Context| {
            let future = function.call(state.get(), F::Argument::read(values)?, context.clone());
            Ok(read(future, uri, mime_type, caching, context))
        };
        Self {
            template: parse(&definition.uri_template, F::Argument::check),
            definition: Definition::new(definition),
            caching: Caching::default(),
            completers: Completers::default(),
            segments_only: false,
            layers: Layers::default(),
            check: |values| F::Argument::read(values).map(drop),
            check_variables: F::Argument::check,
            states,
            run: Box::new(run),
        }
    }

    /// Sets its name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.edit(|template| template.title = Some(title.into()))
    }

    /// Sets what these resources are, for the model.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.edit(|template| template.description = Some(description.into()))
    }

    /// Sets the media type, where all of these resources have the same.
    #[must_use]
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        self.edit(|template| template.mime_type = Some(mime_type.into()))
    }

    /// Sets pictures to show it by. Since 2025-11-25.
    #[must_use]
    pub fn icons(self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.edit(|template| template.icons = icons.into_iter().collect())
    }

    /// Sets for whom these resources are, and how much they matter.
    #[must_use]
    pub fn annotations(self, annotations: Annotations) -> Self {
        self.edit(|template| template.annotations = Some(annotations))
    }

    /// Sets how long a client may keep what it read, and for whom (default: not at all, and only for the client that
    /// asked). Sent since revision 2026-07-28.
    #[must_use]
    pub fn caching(mut self, time: Duration, scope: CacheScope) -> Self {
        self.caching = Caching::new(time, scope);
        self
    }

    /// Takes only URIs in which each value is one segment of a path: it holds neither `/` nor `\`, and is not empty, `.` or
    /// `..` (default: any values). Other URIs are those of no resource.
    #[must_use]
    pub fn segments_only(mut self) -> Self {
        self.segments_only = true;
        self
    }

    /// Completes a variable that a user types.
    ///
    /// # Panics
    ///
    /// When the template has no such variable.
    #[must_use]
    #[track_caller]
    pub fn complete<F, M>(mut self, variable: impl Into<String>, function: F) -> Self
    where
        F: Function<kind::Completion, M>,
        F::Future: Future<Output: IntoCompletion> + Send,
    {
        let variable = variable.into();
        assert!(self.has_argument(&variable), "`{}` has no variable `{variable}`", self.template.as_str());
        self.completers.add(variable, function, &mut self.states);
        self
    }

    /// Adds a layer around the resources of this template, below those of the [server](crate::Server::layer), which
    /// says what layers do.
    #[must_use]
    pub fn layer<L: CallLayer<RawCall>>(mut self, layer: L) -> Self {
        self.layers.add_to_target(layer);
        self
    }

    /// Changes any other part of the definition.
    ///
    /// # Panics
    ///
    /// When the template is changed to one that [`new`](Self::new) refuses.
    #[must_use]
    #[track_caller]
    pub fn edit(mut self, change: impl FnOnce(&mut ResourceTemplate)) -> Self {
        self.definition.edit(change);
        if self.definition().uri_template != self.template.as_str() {
            self.template = parse(&self.definition().uri_template, self.check_variables);
        }
        self
    }

    /// The definition that clients see.
    pub fn definition(&self) -> &ResourceTemplate {
        self.definition.value()
    }

    /// Finds the state of its functions.
    ///
    /// # Panics
    ///
    /// When there is no such state.
    #[track_caller]
    pub(crate) fn prepare(&self, states: &States) {
        self.states.bind(states, "resource template", &self.definition().uri_template);
    }

    /// Looks whether that is the URI of one of these resources, and with which values.
    pub(crate) fn values_of(&self, uri: &str) -> Option<Values> {
        let may_be = |values: &Values| !self.segments_only || values.values().all(|value| is_segment(value));
        self.template.matches(uri).filter(|values| may_be(values) && (self.check)(values).is_ok())
    }

    /// Reads the resource with those values within the layers, of which `outer` is the server's first one.
    ///
    /// # Errors
    ///
    /// What is wrong with the values.
    pub(crate) fn run(
        self: &Arc<Self>,
        outer: Option<&Next>,
        values: &Values,
        uri: String,
        context: Context,
    ) -> Result<HandlerFuture, ErrorObject> {
        let Some(next) = outer.or(self.layers.first()) else {
            return self.start_function(values, uri, context);
        };
        let values = RawJson::encode(values).map_err(ErrorObject::internal_error)?;
        Ok(layers::run(next, RawCall::new(self, &uri, values, context)))
    }

    fn start_function(
        &self,
        values: &Values,
        uri: String,
        context: Context,
    ) -> Result<HandlerFuture, ErrorObject> {
        (self.run)(values, uri, self.definition().mime_type.clone(), self.caching.clone(), context)
            .map_err(ErrorObject::internal_error)
    }
}

/// Whether a value names something within a folder, and nothing else.
fn is_segment(value: &str) -> bool {
    !matches!(value, "" | "." | "..") && !value.contains(['/', '\\'])
}

/// Whether the variables of a template fit the arguments of its function.
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

impl Target for ServerResourceTemplate {
    fn method(&self) -> &'static str {
        ReadResourceRequest::NAME
    }

    fn layers(&self) -> &Layers {
        &self.layers
    }

    fn start(&self, call: &RawCall) -> Result<HandlerFuture, ErrorObject> {
        let values: Values = call.arguments().decode().map_err(ErrorObject::internal_error)?;
        self.start_function(&values, call.name().to_owned(), call.context().clone())
    }
}

impl Entry for ServerResourceTemplate {
    fn key(&self) -> &str {
        &self.definition().uri_template
    }

    fn listed(&self, revision: Revision) -> &RawValue {
        self.definition.text(revision)
    }
}

impl Completable for ServerResourceTemplate {
    fn completers(&self) -> &Completers {
        &self.completers
    }

    fn has_argument(&self, name: &str) -> bool {
        self.template.variables().any(|variable| variable == name)
    }
}

impl fmt::Debug for ServerResourceTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerResourceTemplate")
            .field("definition", self.definition())
            .finish_non_exhaustive()
    }
}
