//! The headers of CORS, by which a browser lets a web page call the endpoint and read what it answers.

use agentwire_mcp_wire::header::{METHOD, NAME, PARAM_PREFIX, PROTOCOL_VERSION, SESSION_ID};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, VARY,
};
use http::{HeaderMap, HeaderValue};

/// The request headers that a web page may set.
const REQUEST_HEADERS: [&str; 9] = [
    "accept",
    "authorization",
    "content-type",
    "dpop",
    "last-event-id",
    METHOD,
    NAME,
    PROTOCOL_VERSION,
    SESSION_ID,
];

/// The response headers that a web page may read.
const RESPONSE_HEADERS: HeaderValue =
    HeaderValue::from_static("dpop-nonce, mcp-session-id, retry-after, www-authenticate");

/// How long a browser may remember the answer to a preflight: 2 h, the longest that browsers agree on.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// How many `Mcp-Param-` headers one preflight allows, and how long their names may be. Their names are those of a tool's
/// arguments, so no list can have them.
const MAX_PARAM_HEADERS: usize = 32;
const MAX_PARAM_NAME: usize = 64;

/// The headers that let a web page read the response to one of its requests. There are none if the request names no
/// `Origin`, or one that [`EndpointConfig::origins`](crate::server::EndpointConfig::origins) does not allow.
///
/// An endpoint adds them to all of its responses. A layer in front of it adds them to its own, such as a refusal of a bearer
/// token; see [`Endpoint::cors`](crate::server::Endpoint::cors).
///
/// There is no `Access-Control-Allow-Credentials`: a page that is allowed sends its token itself, in `Authorization`.
#[derive(Clone, Debug)]
pub struct CorsHeaders(Option<Box<HeaderValue>>);

impl CorsHeaders {
    /// Those that allow an origin; none without one.
    pub(crate) fn allowing(origin: Option<HeaderValue>) -> Self {
        Self(origin.map(Box::new))
    }

    /// Adds them to the headers of a response, in place of any with the same names. `Vary` keeps what it has.
    pub fn add_to(&self, response: &mut HeaderMap) {
        let Some(origin) = &self.0 else { return };
        response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, (**origin).clone());
        response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
        if !response.get_all(VARY).iter().any(|value| value == "origin") {
            response.append(VARY, HeaderValue::from_static("origin"));
        }
    }

    /// The headers of the answer to a preflight, an `OPTIONS` with these headers: 204 without a body, to which
    /// [`add_to`](Self::add_to) adds the rest. `None` if no origin is allowed.
    ///
    /// The names of the headers that the page wants to set are not repeated, except up to 32 of `Mcp-Param-`.
    pub fn preflight(&self, request: &HeaderMap, methods: &'static str) -> Option<HeaderMap> {
        self.0.as_ref()?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
        let mut allowed = REQUEST_HEADERS.join(", ");
        for name in param_headers(request) {
            allowed.push_str(", ");
            allowed.push_str(name);
        }
        headers.extend(
            HeaderValue::try_from(allowed).ok().map(|allowed| (ACCESS_CONTROL_ALLOW_HEADERS, allowed)),
        );
        headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        headers.insert(VARY, HeaderValue::from_static("access-control-request-headers"));
        Some(headers)
    }
}

/// The names in `Access-Control-Request-Headers` that begin as those of arguments do.
fn param_headers(request: &HeaderMap) -> impl Iterator<Item = &str> {
    let value = request.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok());
    let names = value.unwrap_or_default().split(',').map(str::trim);
    let is_param = |name: &&str| {
        name.get(..PARAM_PREFIX.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(PARAM_PREFIX))
            && (PARAM_PREFIX.len() + 1..=MAX_PARAM_NAME).contains(&name.len())
            && agentwire_mcp_wire::header::is_token(name)
    };
    names.filter(is_param).take(MAX_PARAM_HEADERS)
}
