//! The status and the headers of responses.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use crate::server::Body;
use crate::server::response_stream::ResponseForm;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const NO: HeaderValue = HeaderValue::from_static("no");
/// The number of headers that most requests do not exceed.
const USUAL_HEADERS: usize = 12;

pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// The response of a known form. It reuses the empty table `headers`. `stream` makes the body of a stream that has not ended. `None` if
/// no answer will come.
pub(super) fn formed(
    form: ResponseForm,
    headers: HeaderMap,
    stream: impl FnOnce() -> Option<Body>,
) -> Option<Response<Body>> {
    let body = match form {
        ResponseForm::Json(status, text, reservation) => {
            return Some(json(status, Body::text(text, reservation), headers));
        }
        ResponseForm::Event(event, reservation) => Body::text(event.into(), reservation),
        ResponseForm::Events(queue, reservation) => Body::events(queue, reservation),
        ResponseForm::Stream => stream()?,
        ResponseForm::Unanswered => return None,
    };
    Some(events(body, headers))
}

/// A response of one JSON text. It reuses the empty table `headers`.
pub(super) fn json(status: StatusCode, body: Body, headers: HeaderMap) -> Response<Body> {
    with_headers(status, body, headers, [(CONTENT_TYPE, JSON)])
}

/// The stream of a GET.
pub(super) fn event_stream(body: Body) -> Response<Body> {
    let mut response = events(body, HeaderMap::new());
    response.headers_mut().insert(CACHE_CONTROL, NO_CACHE);
    response
}

/// The events that answer a POST, which no cache may keep for others. It reuses the empty table `headers`.
pub(super) fn events(body: Body, headers: HeaderMap) -> Response<Body> {
    with_headers(StatusCode::OK, body, headers, [(CONTENT_TYPE, EVENTS), (ACCEL_BUFFERING, NO)])
}

/// Reuses the table unless that is large: hyper keeps it for the next request of the connection, and an idle connection should be small.
fn with_headers<const N: usize>(
    status: StatusCode,
    body: Body,
    headers: HeaderMap,
    fields: [(HeaderName, HeaderValue); N],
) -> Response<Body> {
    let mut headers = if headers.capacity() <= 2 * USUAL_HEADERS { headers } else { HeaderMap::new() };
    // hyper reads the next request of the connection into this memory.
    headers.reserve(USUAL_HEADERS);
    headers.extend(fields);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_the_memory_of_a_usual_table_of_headers_and_no_more() {
        for (of_request, fits) in [(0, true), (8, true), (USUAL_HEADERS, true), (200, false)] {
            let headers = HeaderMap::with_capacity(of_request);
            let usual =
                headers.capacity().max(HeaderMap::<HeaderValue>::with_capacity(USUAL_HEADERS).capacity());
            let response = json(StatusCode::OK, Body::empty(), headers);
            assert_eq!(response.headers().len(), 1);
            assert_eq!(response.headers().capacity() == usual, fits, "{of_request}");
            assert!(response.headers().capacity() <= 2 * USUAL_HEADERS, "{of_request}");
        }
    }
}
