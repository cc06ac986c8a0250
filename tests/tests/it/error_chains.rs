//! The chains of causes of our errors, and their way into the error types of programs.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::sync::Arc;
use std::time::Duration;

use agentwire::acp::client::{AgentHandle, AnyAgent, AnyClient, Client, connect, connect_any, v2};
use agentwire::acp::proxy::ProxyError;
use agentwire::acp::schema::{v1, v2 as schema};
use agentwire::acp::sessions::{BoxError as SessionBoxError, StoreError as SessionStoreError, TurnError};
use agentwire::acp::toolkit::{Host, HostError};
use agentwire::http::client::{Declined, Http, HttpClientError, HttpError, Hyper, Reqwest};
use agentwire::http::server::NotReady;
use agentwire::jsonrpc::{ErrorObject, WithCauses};
use agentwire::mcp::auth::client::LoginError;
use agentwire::mcp::auth::store::StoreError as CredentialStoreError;
use agentwire::mcp::client::{BoxError, CallError, ConnectionError, HandshakeError};
use agentwire::mcp::hub::{ConnectOptions, CustomTarget, Hub, HubError, ServerConfig, Target, connect_to};
use agentwire::mcp::server::{Server, TaskStoreError, ToolError};
use agentwire::sse::client::SseError;
use agentwire::stdio::{Child, Command, SpawnError, Stderr};
use agentwire::store::StoreError;
use agentwire::transport::{Exited, Transport, TransportError, duplex};
use agentwire_recording::RecordingError;
use agentwire_test_support::http;
use tokio::net::TcpListener;

/// Answers each request with an error.
const REFUSES: &str = r#"while read -r line; do id=${line#*'"id":'}
    echo '{"jsonrpc":"2.0","id":'"${id%%[,\}]*}"',"error":{"code":-32601,"message":"not today"}}'; done"#;

/// The error and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |error| (*error).source())
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|cause| cause.downcast_ref())
}

/// Checks that no text of the chain repeats one of its causes, and that nothing is lost where the chain is joined.
fn check_chain(error: &(dyn Error + 'static)) {
    let texts: Vec<String> = chain(error).map(ToString::to_string).collect();
    for (place, text) in texts.iter().enumerate() {
        assert!(!text.is_empty(), "{texts:#?}");
        for cause in &texts[place + 1..] {
            assert!(!text.contains(cause.as_str()) && !cause.contains(text.as_str()), "{texts:#?}");
        }
    }
    assert_eq!(WithCauses::new(error).plain(), texts.join(": "));
}

/// A chain through the error type of a program.
fn check_report(error: impl Error + Send + Sync + 'static) {
    check_chain(&error);
    let texts: Vec<_> = chain(&error).map(ToString::to_string).collect();
    let report = format!("{:#}", anyhow::Error::new(error));
    assert_eq!(report, texts.join(": "));
}

fn shell(script: &str) -> Child {
    Child::spawn(Command::new("sh").args(["-c", script]).stderr(Stderr::Capture)).expect("a shell")
}

async fn call_over(transport: impl Transport) -> Result<(), ConnectionError> {
    agentwire::mcp::client::connect(transport, async |server| {
        server.call_tool("fail", ()).await?;
        Ok(())
    })
    .await
}

async fn connect_by_hub(target: impl Into<Target>) -> ConnectionError {
    let client = agentwire::mcp::client::Client::new("test", "1");
    let (target, options) = (target.into(), ConnectOptions::new());
    let connected = connect_to(&target, &options, client, async |_| Ok(()));
    connected.await.expect_err("no connection")
}

/// A URL at which nothing listens.
async fn free_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}/mcp", listener.local_addr().unwrap())
}

/// A server that answers each request with this text and closes the connection.
fn server_that_answers(text: &'static str) -> String {
    http::serve(move |_| text) + "/mcp"
}

#[tokio::test]
async fn server_that_cannot_be_reached_has_each_cause_once() {
    let url = free_url().await;
    let error = call_over(Http::new(&url).unwrap()).await.expect_err("nothing listens");
    assert!(find::<HttpError>(&error).is_some(), "{error:#}");
    check_report(error);
    let error = connect_by_hub(Target::parse(&url).unwrap()).await;
    assert!(matches!(find(&error), Some(HttpError::Unsent(_))), "{error:#}");
    check_report(error);
}

#[tokio::test]
async fn broken_or_refused_http_has_each_cause_once() {
    for text in [
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\npage",
    ] {
        let url = server_that_answers(text);
        let error = call_over(Http::new(&url).unwrap()).await.expect_err(text);
        assert!(find::<HttpError>(&error).is_some(), "{error:#}");
        check_report(error);
        let error = connect_by_hub(Target::parse(&url).unwrap()).await;
        assert!(find::<HttpError>(&error).is_some(), "{error:#}");
        check_report(error);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn handshake_refused_in_both_eras_has_each_cause_once() {
    let error = call_over(shell(REFUSES)).await.expect_err("it refuses");
    assert!(matches!(error.downcast_ref(), Some(HandshakeError::RefusedBoth { .. })), "{error:#}");
    let text = format!("{error:#}");
    assert!(text.contains("server/discover: refused") && text.contains("initialize: refused"), "{text}");
    check_report(error);
    check_report(connect_by_hub(Command::new("sh").args(["-c", REFUSES])).await);
}

#[cfg(unix)]
#[tokio::test]
async fn process_that_ends_or_does_not_start_has_each_cause_once() {
    let script = "echo no key >&2; exit 3";
    let error = call_over(shell(script)).await.expect_err("it ends");
    assert_eq!(find::<Exited>(&error).expect("how it ended").stderr, "no key");
    check_report(error);
    let error = connect(Unattended, shell(script), async |agent: AgentHandle| {
        agent.initialize(v1::InitializeRequest::new(v1::ProtocolVersion::V1)).await?;
        Ok(())
    });
    check_report(error.await.expect_err("it ends"));
    check_report(connect_by_hub(Command::new("sh").args(["-c", script]).stderr(Stderr::Capture)).await);
    let error = connect_by_hub(Command::new("/no/such/program")).await;
    assert!(find::<SpawnError>(&error).is_some() && find::<io::Error>(&error).is_some(), "{error:#}");
    check_report(error);
}

#[tokio::test]
async fn call_of_a_hub_has_each_cause_once() {
    let server = Server::new("s", "1").tool("fail", "Fails", async || -> Result<String, ToolError> {
        Err(ToolError::protocol(ErrorObject::new(7, "not today")))
    });
    let target = CustomTarget::new("s", move || {
        let (near, far) = duplex(8);
        tokio::spawn(server.serve(far));
        Ok(near)
    });
    let (hub, driver) = Hub::new([ServerConfig::new("s", target)]);
    let session = async {
        assert_eq!(hub.tools().await.len(), 1);
        let error = hub.call("fail", serde_json::json!({})).await.expect_err("it fails");
        hub.close().await;
        error
    };
    let (error, ()) = tokio::join!(session, driver);
    assert!(matches!(error, HubError::Call { .. }), "{error}");
    assert!(WithCauses::new(&error).to_string().contains("not today"));
    check_report(error);
}

/// A variant of each error that has a cause, with another cause in each.
#[tokio::test]
async fn each_variant_leaves_its_cause_to_its_source() {
    let boxed = || Box::<dyn Error + Send + Sync>::from("the disk is gone");
    let io = || io::Error::other("the disk is gone");
    let call = || CallError::failed("m", boxed());
    let errors: Vec<Box<dyn Error + Send + Sync>> = vec![
        call().into(),
        CallError::failed("m", HttpError::Broken(boxed())).into(),
        TransportError::from(io()).into(),
        TransportError::other(HttpError::Unsent(boxed())).into(),
        HttpError::Declined(boxed()).into(),
        Declined::new(boxed()).into(),
        SseError::Http(HttpError::Broken(boxed())).into(),
        HandshakeError::Call(call()).into(),
        ConnectionError::new(call()).into(),
        HostError::Call(call()).into(),
        HostError::Ended(Arc::new(call())).into(),
        HostError::Directory(io()).into(),
        TurnError::Call(call()).into(),
        TurnError::Store(Arc::new(SessionStoreError::other(io()))).into(),
        TurnError::Failed(SessionBoxError::from(call())).into(),
        ProxyError::Client(TransportError::other(boxed())).into(),
        ProxyError::Agent(TransportError::from(io())).into(),
        CredentialStoreError::new("cannot write the file", io()).into(),
        LoginError::unavailable("no listener", io()).into(),
        StoreError::away(io()).into(),
        StoreError::full(io()).into(),
        StoreError::damaged(io()).into(),
        NotReady::Store(StoreError::away(io())).into(),
        TaskStoreError::new(StoreError::away(io())).into(),
        ToolError::protocol(ErrorObject::new(7, "not today")).into(),
        ToolError::content(vec!["not today".into()]).into(),
        RecordingError::Io(io()).into(),
        RecordingError::MaskAgain(io()).into(),
    ];
    for error in errors {
        let error: Box<dyn Error> = error;
        check_chain(&*error);
        let last = chain(&*error).last().expect("the error itself").to_string();
        assert!(["the disk is gone", "not today"].iter().any(|cause| last.contains(cause)), "{last}");
    }
    let report = anyhow::Error::new(CallError::failed("m", HttpError::Broken(boxed())));
    assert!(report.chain().any(|cause| cause.is::<HttpError>()), "a program finds it by its type");
    assert_eq!(format!("{report:#}"), "m: failed: the HTTP response broke off: the disk is gone");
}

/// A client and an agent program's user that decide nothing.
#[derive(Clone)]
struct Unattended;

impl Client for Unattended {
    fn session_update(&self, _: v1::SessionNotification) {}

    async fn request_permission(
        &self,
        _: v1::RequestPermissionRequest,
        _: agentwire::acp::client::Context,
    ) -> Result<v1::RequestPermissionResponse, ErrorObject> {
        Ok(v1::RequestPermissionResponse::cancelled())
    }
}

impl v2::Client for Unattended {
    fn session_update(&self, _: schema::UpdateSessionNotification) {}

    async fn request_permission(
        &self,
        _: schema::RequestPermissionRequest,
        _: v2::Context,
    ) -> Result<schema::RequestPermissionResponse, ErrorObject> {
        Ok(schema::RequestPermissionResponse::cancelled())
    }
}

/// Calls each function that runs a closure, with `?` into the error type of a program.
macro_rules! call_each {
    ($name:ident, $error:ty) => {
        async fn $name(number: usize) -> Result<(), $error> {
            let (near, _) = duplex(1);
            let any = AnyClient::new(v1::Implementation::new("test", "1"), Unattended, Unattended);
            let target: Target = Command::new("/no/such/program").into();
            let client = agentwire::mcp::client::Client::new("test", "1");
            match number {
                0 => connect(Unattended, near, async |_| Err("0".into())).await?,
                1 => v2::connect(Unattended, near, async |_| Err("1".into())).await?,
                2 => connect_any(any, near, async |_: AnyAgent| Ok(())).await?,
                3 => agentwire::mcp::client::connect(near, async |_| Ok(())).await?,
                4 => client.connect(near, async |_| Ok(())).await?,
                5 => connect_to(&target, &ConnectOptions::new(), client, async |_| Ok(())).await?,
                6 => Host::new().run(near, async |_| Ok(())).await?,
                _ => Err(ConnectionError::new("7"))?,
            }
            // Not called: they only have to compile.
            drop(Hyper::new(Duration::from_secs(1))?);
            drop(Reqwest::new(Duration::from_secs(1))?);
            Ok(())
        }
    };
}

call_each!(into_anyhow, anyhow::Error);
call_each!(into_eyre, eyre::Report);
call_each!(into_box, Box<dyn Error + Send + Sync>);
call_each!(into_box_error, BoxError);

#[tokio::test]
async fn question_mark_turns_each_connection_error_into_the_error_of_a_program() {
    for number in 0..8 {
        let error = into_anyhow(number).await.expect_err("it fails");
        check_chain(error.as_ref());
        assert!(error.is::<ConnectionError>(), "{number}: {error:#}");

        let report = into_eyre(number).await.expect_err("it fails");
        let texts: Vec<_> = report.chain().map(ToString::to_string).collect();
        assert_eq!(format!("{report:#}"), texts.join(": "), "{number}");
        assert!(report.is::<ConnectionError>(), "{number}: {report:#}");

        let boxed = into_box(number).await.expect_err("it fails");
        check_chain(&*boxed);
        assert!(boxed.is::<ConnectionError>(), "{number}");

        let error = into_box_error(number).await.expect_err("it fails");
        assert!(error.downcast_ref::<ConnectionError>().is_none(), "{number}: it is the closure's");
        check_chain(error.as_error());
    }
}

/// The types that functions return to a program are errors.
#[test]
fn errors_of_constructors_are_errors() {
    fn is_error<E: Error + Send + Sync + 'static>() {}
    is_error::<HttpClientError>();
    is_error::<ConnectionError>();
}
