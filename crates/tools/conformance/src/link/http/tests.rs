//! Requests byte by byte, and references to other addresses.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

async fn target(listener: &TcpListener) -> HttpTarget {
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    HttpTarget::new(&url, &[], &Trace::new(), &Faults::default(), Duration::from_secs(20)).unwrap()
}

#[tokio::test]
async fn a_request_has_the_headers_that_were_asked_for_and_its_length() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = target(&listener).await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = vec![0; 4096];
        let mut length = 0;
        while !bytes[..length].ends_with(b"{\"a\":1}") {
            length += stream.read(&mut bytes[length..]).await.unwrap();
        }
        stream.write_all(b"HTTP/1.1 202 Accepted\r\nX: y\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let request = target.request("POST").body("{\"a\":1}").header("X-Test", "b");
    let (request, response) = tokio::join!(server, request.send());
    let host = target.authority();
    let expected = format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\nx-test: b\r\ncontent-length: 7\r\n\r\n");
    assert_eq!(request, expected + "{\"a\":1}");
    let response = response.unwrap();
    assert_eq!((response.status(), response.header("x")), (202, Some("y")));
}

#[tokio::test]
async fn bytes_are_written_as_they_are_and_chunks_are_joined() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = target(&listener).await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 4];
        stream.read_exact(&mut bytes).await.unwrap();
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-").await.unwrap();
        stream.write_all(b"Encoding: chunked\r\n\r\n3;x\r\nabc\r\n1\r\nd\r\n0\r\n\r\n").await.unwrap();
        stream.write_all(b"HTTP/1.0 404 No\r\nContent-Length: 2\r\n\r\nno").await.unwrap();
        bytes
    };
    let client = async {
        let mut tcp = target.tcp().await.unwrap();
        tcp.write(b"\0ABC").await.unwrap();
        let responses = [tcp.response().await.unwrap(), tcp.response().await.unwrap()];
        assert!(tcp.closes_within(Duration::from_secs(20)).await);
        responses.map(|response| (response.head.status, response.body))
    };
    let (bytes, responses) = tokio::join!(server, client);
    assert_eq!(bytes, *b"\0ABC");
    assert_eq!(responses, [(200, b"abcd".to_vec()), (404, b"no".to_vec())]);
}

#[test]
fn references_are_resolved_and_secrets_are_masked() {
    let listed = [
        ("/m?s=1", "http://h:1/m?s=1"),
        ("m", "http://h:1/a/m"),
        ("?s=1", "http://h:1/a/sse?s=1"),
        ("//h:2/m", "http://h:2/m"),
        ("https://i/m", "https://i/m"),
    ];
    let trace = Trace::new();
    let wait = Duration::from_secs(1);
    let target = HttpTarget::new("http://h:1/a/sse", &[], &trace, &Faults::default(), wait).unwrap();
    for (reference, resolved) in listed {
        assert_eq!(target.at(reference).unwrap().url, resolved);
    }
    target.note(
        "POST /m HTTP/1.1\nAuthorization: Bearer secret\nx-goog-api-key: secret\nmcp-method: ping",
        json!({}).to_string().as_bytes(),
    );
    let shown = String::from_utf8(trace.events().remove(0).bytes).unwrap();
    assert_eq!(
        shown,
        "POST /m HTTP/1.1\nAuthorization: (not shown)\nx-goog-api-key: (not shown)\nmcp-method: ping"
    );
}
