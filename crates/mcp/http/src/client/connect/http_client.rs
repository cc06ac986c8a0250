//! The trait that sends one HTTP request and returns the response with a streamed body. Programs wrap it to add headers per
//! request.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::{Request, Response};

/// An error below HTTP.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The body of a response, as it arrives.
pub type Body = BoxStream<'static, Result<Bytes, BoxError>>;

/// Sends HTTP requests.
///
/// The transport follows redirects itself (only within the origin), and enforces its time limits and its size limits. So a
/// client must do none of that, and above all follow no redirect. A client that asks for compression decompresses the body,
/// and removes the header `Content-Encoding`; the size limits count decompressed bytes. To add a header that changes from
/// request to request, such as an access token, or to answer a 401, wrap one client in another.
///
/// ```
/// use agentwire_transport_http::client::{Body, BoxError, HttpClient};
/// use bytes::Bytes;
/// use futures::future::BoxFuture;
/// use http::{HeaderValue, Request, Response, header::AUTHORIZATION};
///
/// struct WithToken<C> {
///     client: C,
///     token: Box<dyn Fn() -> HeaderValue + Send + Sync>,
/// }
///
/// impl<C: HttpClient> HttpClient for WithToken<C> {
///     fn send(&self, mut request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
///         request.headers_mut().insert(AUTHORIZATION, (self.token)());
///         self.client.send(request)
///     }
/// }
/// ```
///
/// The clients in this crate are `Reqwest`, with the feature `reqwest`, and one on hyper, with the feature
/// `rustls-no-provider`.
pub trait HttpClient: Send + Sync {
    /// Sends a request and gives the response as soon as its headers are there.
    ///
    /// The returned future does all the work; dropping it, or the body, gives up the request and closes
    /// whatever carried it.
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>>;
}

impl<C: HttpClient + ?Sized> HttpClient for Arc<C> {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        (**self).send(request)
    }
}
