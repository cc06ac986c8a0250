//! A whole server on a socket.

use std::time::Duration;

use agentwire_mcp_auth::server::ResourceServer;
use agentwire_transport::service_fn;
use agentwire_transport_http::server::{Caller, Endpoint, EndpointConfig, Routes, serve};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::support::{RESOURCE, Web, issuer, serve_session, token};

#[tokio::test]
async fn a_whole_server_on_a_socket() {
    let web = Web::with_issuer();
    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&web)).scopes(["mcp"]);
    let callers = std::sync::Arc::<std::sync::Mutex<Vec<Caller>>>::default();
    let kept = callers.clone();
    let auth = auth.on_rejection(move |_, caller| kept.lock().unwrap().push(caller.clone()));
    let config = EndpointConfig::new().hosts(["mcp.example"]).origins(["https://app.example"]);
    let endpoint = Endpoint::serving(
        config,
        service_fn(serve_session, |exchange: agentwire_transport::Exchange| {
            std::future::ready(agentwire_jsonrpc::Response::new(
                exchange.request.id,
                Ok(agentwire_jsonrpc::RawJson::EMPTY_OBJECT),
            ))
        }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = serve(listener, auth.mount(Routes::new().at("/mcp", endpoint)))
        .shutdown(async { drop(stopped.await) })
        .grace(Duration::from_secs(1));
    let serving = tokio::spawn(async { serving.await });
    let ask = async |head: String, body: &str| {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let text = format!("{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        socket.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    };
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        // Whatever the host is called: the document is from configuration.
        let answer = ask(format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\n"), "").await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains(r#""resource":"https://mcp.example/mcp""#),
            "{answer}"
        );
        assert!(!answer.contains("evil"));
    }
    let post = |more: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: mcp.example\r\nOrigin: https://app.example\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\n{more}"
        )
    };
    let init = super::support::initialize("2025-11-25").to_string();
    let refused = ask(post(""), &init).await;
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    assert!(
        refused
            .contains("resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"")
    );
    assert!(
        refused.contains("access-control-allow-origin: https://app.example"),
        "the endpoint's: {refused}"
    );
    let opened = ask(post(&format!("Authorization: Bearer {}\r\n", token(json!({})))), &init).await;
    assert!(
        opened.starts_with("HTTP/1.1 200") && opened.contains("mcp-session-id"),
        "sessions run: {opened}"
    );
    assert!(
        ask("GET /other HTTP/1.1\r\nHost: mcp.example\r\n".to_owned(), "").await.starts_with("HTTP/1.1 404")
    );
    let callers: Vec<_> =
        callers.lock().unwrap().iter().map(|caller| caller.name().map(String::from)).collect();
    assert_eq!(callers, [Some("address 127.0.0.1".to_owned())]);
    drop(stop);
    tokio::time::timeout(Duration::from_secs(5), serving)
        .await
        .expect("a shutdown reaches the endpoint")
        .unwrap();
}
