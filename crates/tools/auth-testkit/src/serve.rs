//! Connections: each is a task, and each request is recorded before it is answered.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::body::AnswerBody;
use crate::context::Context;
use crate::log::{RecordedRequest, SECRETS, Site};
use crate::reply::Reply;
use crate::route;

/// How many connections an origin has at once. More wait to be accepted.
const CONNECTION_LIMIT: usize = 4096;

/// How long the body of a request may be.
const BODY_LIMIT: usize = 4 << 20;

/// How long nothing is accepted after an error.
const ACCEPT_DELAY: Duration = Duration::from_millis(10);

/// Accepts connections until the task is aborted, which ends them all.
pub(crate) async fn serve(listener: TcpListener, site: Site, context: Arc<Context>) {
    let free = Arc::new(Semaphore::new(CONNECTION_LIMIT));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // Such as too many open files: others have to be closed first.
                    tokio::time::sleep(ACCEPT_DELAY).await;
                    continue;
                };
                let context = Arc::clone(&context);
                connections.spawn(async move {
                    connection(stream, site, context).await;
                    drop(permit);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, site: Site, context: Arc<Context>) {
    // An answer is one small write, which nothing should hold back.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let context = Arc::clone(&context);
        async move { handle(&context, site, request).await }
    });
    let mut http = http1::Builder::new();
    // An error is the client's, or one that a fault has made.
    let _ = http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
}

/// An error makes hyper close the connection without an answer.
async fn handle(
    context: &Context,
    site: Site,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, io::Error> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, BODY_LIMIT).collect().await;
    let body = body.map_err(|_| io::Error::other("the body is too long or broken"))?.to_bytes();
    let path = head.uri.path().to_owned();
    let (site, endpoint) = route::find(context, site, &path);
    let is_form = head
        .headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
    let request = RecordedRequest {
        site,
        endpoint,
        method: head.method,
        path,
        target: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        query: pairs(head.uri.query().unwrap_or_default().as_bytes()),
        form: if is_form { pairs(&body) } else { Vec::new() },
        headers: head.headers,
        body,
        status: None,
    };
    remember(context, &request);
    let number = context.log.add(request.clone());
    match route::answer(context, request).await {
        Reply::Answer(response) => {
            context.log.answered(number, response.status().as_u16());
            Ok(response)
        }
        Reply::Close => Err(io::Error::other("closed by a fault")),
    }
}

/// Remembers what is secret in a request.
fn remember(context: &Context, request: &RecordedRequest) {
    let pairs = request.form.iter().chain(&request.query);
    let params = pairs.filter(|(name, _)| SECRETS.contains(&name.as_str())).map(|(_, value)| value.as_str());
    let mut store = context.store();
    for secret in params.chain(request.token()).chain(request.header("dpop")) {
        store.remember(secret);
    }
}

fn pairs(bytes: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(bytes).into_owned().collect()
}
