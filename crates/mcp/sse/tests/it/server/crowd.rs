//! The limits on sessions, in total and for each caller.

use agentwire_transport_sse::server::EndpointConfig;
use serde_json::json;

use crate::server::raw::{Raw, Session, result};
use crate::server::script::{Server, WAYS};

#[tokio::test]
async fn sessions_are_limited_and_given_back() {
    for way in WAYS {
        let server = Server::start(
            EndpointConfig::new().with_http(|http| http.session_limit(60).caller_session_limit(60)),
            way,
        )
        .await;
        for round in 0..3 {
            let mut sessions = Vec::new();
            for _ in 0..60 {
                let mut session = Session::open(server.port).await;
                // One that has said nothing would give way to the next.
                session.call(0, "echo", json!([round])).await;
                assert_eq!(session.message().await, result(0, json!([round])));
                sessions.push(session);
            }
            server.state.attends(60).await;
            let (head, body) = Raw::connect(server.port).await.exchange("GET /sse", &[], "").await;
            assert_eq!((head.status, head.header("retry-after")), (503, Some("1")));
            assert!(body.contains("the limit of 60"), "{body}");
            let last = sessions.last_mut().unwrap();
            last.call(1, "echo", json!([round])).await;
            assert_eq!(last.message().await, result(1, json!([round])));
            for session in sessions {
                session.raw.stream.set_zero_linger().unwrap();
            }
            server.state.attends(0).await;
        }
    }
}

/// Without a limit of its own, one caller gets at most three quarters of the sessions.
#[tokio::test]
async fn one_caller_leaves_sessions_to_others() {
    let server = Server::start(EndpointConfig::new().with_http(|http| http.session_limit(8)), WAYS[0]).await;
    let mut sessions = Vec::new();
    for number in 0..6 {
        let mut session = Session::open(server.port).await;
        session.call(0, "echo", json!([number])).await;
        assert_eq!(session.message().await, result(0, json!([number])));
        sessions.push(session);
    }
    let (head, _) = Raw::connect(server.port).await.exchange("GET /sse", &[], "").await;
    assert_eq!(head.status, 503, "a seventh of eight");
}
