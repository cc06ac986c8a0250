//! The attributes of a request.

pub(crate) mod error_type;
pub(crate) mod methods;
pub(crate) mod names;
pub(crate) mod network;
pub(crate) mod params;
pub(crate) mod text;
pub(crate) mod uri;

use opentelemetry::KeyValue;

use crate::attributes::params::Params;
use crate::attributes::text::{CONTENT_LIMIT, TEXT_LIMIT, bounded, string};
use crate::attributes::uri::public_part;
use crate::connection::ConnectionKind;
use crate::protocol::Protocol;

pub(crate) const TOOLS_CALL: &str = "tools/call";
const PROMPTS_GET: &str = "prompts/get";

/// The attributes that are known when a request starts.
pub(crate) struct CallAttributes {
    /// The method's name. [`OTHER`](text::OTHER) for an unknown method.
    pub(crate) method: &'static str,
    /// Attributes of spans and metrics.
    pub(crate) common: Vec<KeyValue>,
    /// The key and value of the attribute for the tool or prompt.
    pub(crate) target: Option<(&'static str, String)>,
    /// Attributes of spans only.
    pub(crate) span: Vec<KeyValue>,
    /// Whether a part of the request's URI is left out. The message of an error may contain it, so the message is left out too.
    pub(crate) hides_uri: bool,
}

impl CallAttributes {
    pub(crate) fn new(kind: &ConnectionKind, method: &str, params: &Params<'_>) -> Self {
        let protocol = kind.protocol;
        let method = protocol.method(method);
        let mut common = vec![KeyValue::new(protocol.method_attribute(), method)];
        common.extend_from_slice(kind.network.attributes());
        let mut attributes = Self { method, common, target: None, span: Vec::new(), hides_uri: false };
        match protocol {
            Protocol::Acp => attributes.add_span("acp.session.id", params.session_id),
            Protocol::Mcp => attributes.add_mcp(kind, params),
        }
        attributes
    }

    fn add_mcp(&mut self, kind: &ConnectionKind, params: &Params<'_>) {
        let target = match self.method {
            TOOLS_CALL => "gen_ai.tool.name",
            PROMPTS_GET => "gen_ai.prompt.name",
            method if method.starts_with("resources/") => {
                return self.add_uri(params.uri);
            }
            _ => return,
        };
        let name = params.name.and_then(string);
        self.target = name.filter(|name| !name.is_empty()).map(|name| (target, bounded(&name, TEXT_LIMIT)));
        if self.method == TOOLS_CALL {
            self.common.push(KeyValue::new("gen_ai.operation.name", "execute_tool"));
            if let Some(arguments) = params.arguments.filter(|_| kind.inner.config.content) {
                self.span
                    .push(KeyValue::new("gen_ai.tool.call.arguments", bounded(arguments, CONTENT_LIMIT)));
            }
        }
    }

    fn add_uri(&mut self, uri: Option<&str>) {
        let Some(uri) = uri.and_then(string) else { return };
        let shown = public_part(&uri);
        self.hides_uri = shown != uri;
        self.span.push(KeyValue::new("mcp.resource.uri", bounded(&shown, TEXT_LIMIT)));
    }

    /// Adds a JSON string to the attributes of the span.
    fn add_span(&mut self, key: &'static str, value: Option<&str>) {
        if let Some(value) = value.and_then(string) {
            self.span.push(KeyValue::new(key, bounded(&value, TEXT_LIMIT)));
        }
    }

    /// The name of the span.
    pub(crate) fn span_name(&self) -> String {
        match &self.target {
            Some((_, target)) => format!("{} {target}", self.method),
            None => self.method.to_owned(),
        }
    }

    /// All attributes of the span.
    pub(crate) fn of_span(&self) -> Vec<KeyValue> {
        let target = self.target.iter().map(|(key, name)| KeyValue::new(*key, name.clone()));
        self.common.iter().cloned().chain(target).chain(self.span.iter().cloned()).collect()
    }
}
