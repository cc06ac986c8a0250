//! The browser without a person.

use agentwire_mcp_auth_testkit::{AuthServer, Fault, visit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::client::{CHALLENGE, Client};

#[tokio::test]
async fn a_visit_ends_at_the_clients_listener() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::register(&server).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let redirect = format!("http://{}/callback", listener.local_addr().unwrap());
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone").await.unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    };
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", &redirect),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ])
        .finish();
    let url = format!("{}?{query}", server.endpoint("authorize"));
    let (page, request) = futures::join!(visit(&url), answer);
    let page = page.unwrap();
    assert_eq!((page.status, page.text.as_str()), (200, "done"));
    assert_eq!(page.urls.len(), 2);
    assert!(page.urls[1].starts_with(&redirect) && request.contains("/callback?code="), "{request}");
}

#[tokio::test]
async fn a_visit_is_bounded() {
    let server = AuthServer::builder().misbehave(Fault::MetadataRedirectLoop).start().await.unwrap();
    let url = format!("{}/.well-known/oauth-authorization-server", server.issuer());
    assert_eq!(visit(&url).await.unwrap_err().to_string(), "too many redirects");
    server.clear(Fault::MetadataRedirectLoop);
    server.set(Fault::MetadataEndless);
    assert!(visit(&url).await.is_err());
    assert!(visit("file:///etc/hosts").await.is_err());
    assert!(visit("https://127.0.0.1/").await.is_err());
}
