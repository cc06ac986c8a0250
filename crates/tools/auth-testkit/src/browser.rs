//! A person's browser, as far as an authorization needs one.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, LOCATION};
use http::{HeaderValue, Request, Uri};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// How many redirects are followed.
const REDIRECT_LIMIT: usize = 10;

/// How long a page may be.
const PAGE_LIMIT: usize = 1 << 20;

/// How long one page may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The page at which a [`visit`] has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The URLs that were requested, in order: the last is that of the page.
    pub urls: Vec<String>,
    /// The page's status.
    pub status: u16,
    /// The page's text.
    pub text: String,
}

/// Opens a URL as a browser does, and follows its redirects: from the authorization endpoint to the client's redirect URI,
/// for the server agrees at once. A test gives this to its client in place of a browser.
///
/// ```
/// # async fn run(authorization_url: &str) -> std::io::Result<()> {
/// let page = agentwire_mcp_auth_testkit::visit(authorization_url).await?;
/// assert!(page.urls.last().is_some_and(|url| url.contains("code=")));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// If a URL is not one of `http`, after ten redirects, if a page is longer than 1 MiB or takes more than ten seconds, and if a
/// connection fails.
pub async fn visit(url: &str) -> io::Result<Page> {
    let mut urls = Vec::new();
    let mut next = url.to_owned();
    while urls.len() <= REDIRECT_LIMIT {
        let uri: Uri = next.parse().map_err(|_| io::Error::other("not a URL"))?;
        urls.push(next);
        let timed = tokio::time::timeout(TIMEOUT, get(&uri));
        let (status, location, text) =
            timed.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        match location {
            Some(location) if (300..400).contains(&status) => next = location,
            _ => return Ok(Page { urls, status, text }),
        }
    }
    Err(io::Error::other("too many redirects"))
}

/// The status, the `Location` and the text of an answer.
async fn get(uri: &Uri) -> io::Result<(u16, Option<String>, String)> {
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
    let authority = authority.ok_or_else(|| io::Error::other("only http is opened"))?.as_str();
    let stream = TcpStream::connect(if authority.contains(':') {
        authority.to_owned()
    } else {
        format!("{authority}:80")
    });
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream.await?)).await.map_err(io::Error::other)?;
    let mut request = Request::new(Empty::<Bytes>::new());
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().map_err(io::Error::other)?;
    request.headers_mut().insert(HOST, HeaderValue::from_str(authority).map_err(io::Error::other)?);
    let answer = async {
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let status = response.status().as_u16();
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.map(str::to_owned);
        let body =
            Limited::new(response.into_body(), PAGE_LIMIT).collect().await.map_err(io::Error::other)?;
        Ok((status, location, String::from_utf8_lossy(&body.to_bytes()).into_owned()))
    };
    tokio::pin!(answer);
    tokio::select! {
        answer = &mut answer => answer,
        // The connection ends before the answer is read to its end, or with an error that the answer has too.
        _ = connection => answer.await,
    }
}
