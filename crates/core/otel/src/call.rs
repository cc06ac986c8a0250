//! Ends the span of a request, and records its duration.

pub(crate) mod active;
pub(crate) mod incoming;
pub(crate) mod outgoing;

use std::borrow::Cow;

use agentwire_jsonrpc::RequestId;
use agentwire_peer::observe::{CallEnd, CallObserver, Outcome};
use opentelemetry::trace::{Status, TraceContextExt};
use opentelemetry::{Context, KeyValue};

use crate::attributes::error_type::{description, error_type, status_code};
use crate::attributes::text::{CONTENT_LIMIT, TEXT_LIMIT, bounded, string};
use crate::attributes::{CallAttributes, TOOLS_CALL};
use crate::call::active::ActiveCall;
use crate::protocol::{Protocol, Role};

/// A request with its span, until it ends.
pub(crate) struct ObservedCall {
    pub(crate) active: ActiveCall,
    pub(crate) attributes: CallAttributes,
    /// The context in which the span is current.
    pub(crate) context: Context,
    /// Whether the span was started for this call. If not, the program has started it, and ends it.
    pub(crate) owns_span: bool,
    /// The protocol revision at the start of the call.
    pub(crate) revision: Option<Cow<'static, str>>,
}

/// The attribute of a request's id.
pub(crate) fn id_attribute(id: &RequestId) -> KeyValue {
    let text = id.as_str().unwrap_or_else(|| id.to_string().into());
    KeyValue::new("jsonrpc.request.id", bounded(&text, TEXT_LIMIT))
}

impl CallObserver for ObservedCall {
    fn ended(&self, end: &CallEnd<'_>) {
        let kind = self.active.kind();
        let role = Role::in_call(end.direction);
        let error = error_type(&end.outcome, role, self.attributes.method == TOOLS_CALL);
        let mut found = Vec::new();
        let negotiated = end.revision.and_then(|revision| kind.protocol.revision(revision));
        if let Some(revision) = self.revision.clone().or(negotiated) {
            found.push(KeyValue::new(kind.protocol.revision_attribute(), revision));
        }
        if let Some(error) = &error {
            found.push(KeyValue::new("error.type", error.clone()));
        }
        if let Some(code) = status_code(&end.outcome) {
            found.push(KeyValue::new("rpc.response.status_code", code));
        }
        let is_named = self.is_named(&end.outcome);
        self.end_span(end, found.clone(), error.is_some(), is_named || role == Role::Client);
        let target = self.attributes.target.iter().filter(|_| is_named);
        let target = target.map(|(key, name)| KeyValue::new(*key, name.clone()));
        let measured: Vec<_> = self.attributes.common.iter().cloned().chain(target).chain(found).collect();
        let duration = end.duration.as_secs_f64();
        // The SDK attaches the current span to the measurement as an exemplar.
        let _guard = self.context.clone().attach();
        kind.inner.instruments.operation(kind.protocol, role).record(duration, &measured);
    }

    fn in_scope(&self, poll: &mut dyn FnMut()) {
        let _guard = self.context.clone().attach();
        poll();
    }
}

impl ObservedCall {
    /// Returns whether the name of the tool or prompt may be an attribute of metrics. A result shows that the tool or prompt exists.
    fn is_named(&self, outcome: &Outcome<'_>) -> bool {
        let Some((_, name)) = &self.attributes.target else { return true };
        let names = &self.active.kind().inner.names;
        match outcome {
            Outcome::Result(_) => names.admit(name),
            _ => names.has(name),
        }
    }

    fn end_span(&self, end: &CallEnd<'_>, mut found: Vec<KeyValue>, failed: bool, keeps_name: bool) {
        let span = self.context.span();
        if let Outcome::Result(result) = end.outcome {
            self.add_result(result, &mut found);
        }
        if span.is_recording() {
            span.set_attributes(found);
        }
        if !self.owns_span {
            return;
        }
        if !keeps_name {
            span.update_name(self.attributes.method);
        }
        if failed {
            let description = match self.attributes.hides_uri {
                true => String::new(),
                false => description(&end.outcome),
            };
            span.set_status(Status::error(description));
        }
        span.end();
    }

    fn add_result(&self, result: &agentwire_jsonrpc::RawJson, found: &mut Vec<KeyValue>) {
        let kind = self.active.kind();
        if kind.inner.config.content && self.attributes.method == TOOLS_CALL {
            found.push(KeyValue::new("gen_ai.tool.call.result", bounded(result.as_str(), CONTENT_LIMIT)));
        }
        let is_new = matches!(self.attributes.method, "session/new" | "session/fork");
        if kind.protocol == Protocol::Acp
            && is_new
            && let Some(id) = result.member("sessionId")
            && let Some(id) = string(id.as_str())
        {
            found.push(KeyValue::new("acp.session.id", bounded(&id, TEXT_LIMIT)));
        }
    }
}
