//! Sends a request and follows up to 5 redirects that keep the method and the origin.

use std::time::Duration;

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};

use crate::client::url::uri::within_origin;
use crate::client::{Body, HttpClient, HttpError, Wait};

/// The most redirects that one request follows.
const MAX_REDIRECTS: usize = 5;

/// Sends a request, and again where it is redirected to, within the origin of its URL. Returns also the URL that answered.
///
/// A redirect is followed only where the method stays the same: 307 and 308, and 301 and 302 of a GET. It is for other
/// transports over an [`HttpClient`]; [`Http`](crate::client::Http) does it by itself.
///
/// # Errors
///
/// [`HttpError::Unsent`]; [`HttpError::Declined`]; [`HttpError::TimedOut`] with `wait` if the headers of the last response take longer than `after`;
/// [`HttpError::Redirected`] for a redirect that is not followed, and for the sixth one.
pub async fn send_within_origin(
    client: &dyn HttpClient,
    request: Request<Bytes>,
    wait: Wait,
    after: Duration,
) -> Result<(Uri, Response<Body>), HttpError> {
    let sent = tokio::time::timeout(after, follow(client, request)).await;
    sent.unwrap_or(Err(HttpError::TimedOut { wait, after }))
}

async fn follow(
    client: &dyn HttpClient,
    mut request: Request<Bytes>,
) -> Result<(Uri, Response<Body>), HttpError> {
    let mut redirects = 0;
    loop {
        let response = client.send(request.clone()).await.map_err(HttpError::unsent)?;
        let status = response.status();
        if !status.is_redirection() {
            return Ok((request.uri().clone(), response));
        }
        redirects += 1;
        let location = location(response.headers());
        let target = within_origin(request.uri(), &location).ok();
        let is_followed = redirects <= MAX_REDIRECTS && keeps_method(status, request.method());
        let Some(target) = target.filter(|_| is_followed) else {
            return Err(HttpError::Redirected { status, location });
        };
        *request.uri_mut() = target;
    }
}

fn keeps_method(status: StatusCode, method: &Method) -> bool {
    match status {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => *method == Method::GET,
        _ => false,
    }
}

/// Where a response points, as the server wrote it.
fn location(headers: &HeaderMap) -> String {
    let location = headers.get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
    String::from_utf8_lossy(location).into_owned()
}
