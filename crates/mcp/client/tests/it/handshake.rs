use std::time::Duration;

use agentwire_mcp_client::{CallError, Client, Era, HandshakeError, schema::Revision};
use serde_json::json;

use crate::mock::{Mock, NEWEST, with_mock};

fn client() -> Client {
    Client::new("tester", "1.0.0").era(Era::Legacy)
}

#[tokio::test(start_paused = true)]
async fn lif_01_02_04_and_08_the_handshake_comes_first_and_offers_the_newest() {
    let script = async |mut mock: Mock| {
        let request = mock.greet(NEWEST).await;
        assert_eq!(request["params"]["protocolVersion"], NEWEST);
        assert_eq!(request["params"]["capabilities"], json!({}));
        assert_eq!(request["params"]["clientInfo"], json!({ "name": "tester", "version": "1.0.0" }));
        let ping = mock.expect("ping").await;
        mock.answer(&ping, json!({})).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(client(), script, async |server| {
        server.ping().await?;
        Ok((server.info().name.clone(), server.instructions().map(str::to_owned)))
    })
    .await;
    assert_eq!(result.unwrap(), ("mock".to_owned(), Some("Go.".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn any_revision_with_sessions_is_spoken() {
    for revision in Revision::ALL.iter().filter(|revision| revision.is_legacy()) {
        let script = async |mut mock: Mock| {
            mock.greet(revision.as_str()).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_mock(client(), script, async |server| Ok(server.revision())).await;
        assert_eq!(result.unwrap(), *revision);
    }
}

#[tokio::test(start_paused = true)]
async fn lif_11_another_version_ends_the_connection() {
    // The second has no sessions, so `initialize` cannot agree on it.
    for version in ["1999-01-01", "2026-07-28"] {
        let script = async |mut mock: Mock| {
            let request = mock.expect("initialize").await;
            let info = json!({ "name": "mock", "version": "1" });
            let result = json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": info });
            mock.answer(&request, result).await;
            mock.expect_end().await;
        };
        let never = async |_| -> Result<(), _> { panic!("no session") };
        let (result, ()) = with_mock(client(), script, never).await;
        let error = result.unwrap_err().downcast::<HandshakeError>().unwrap();
        assert!(
            matches!(&error, HandshakeError::UnknownVersion { answered, .. } if answered.as_str() == version)
        );
        assert!(error.to_string().contains(version));
    }
}

#[tokio::test(start_paused = true)]
async fn lif_21_a_refused_version_tells_which_there_are() {
    let script = async |mut mock: Mock| {
        let request = mock.expect("initialize").await;
        let data = json!({ "supported": ["1999-01-01"], "requested": NEWEST });
        mock.refuse(&request, json!({ "code": -32602, "message": "no such version", "data": data })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(client(), script, async |_| Ok(())).await;
    let error = result.unwrap_err().downcast::<HandshakeError>().unwrap();
    assert_eq!(error.to_string(), "the server refuses version `2025-11-25`; it speaks `1999-01-01`");
}

#[tokio::test(start_paused = true)]
async fn can_02_a_handshake_in_vain_times_out_and_is_never_cancelled() {
    let script = async |mut mock: Mock| {
        mock.expect("initialize").await;
        mock.expect_end().await;
    };
    let client = client().handshake_timeout(Duration::from_secs(5));
    let (result, ()) = with_mock(client, script, async |_| Ok(())).await;
    let error = result.unwrap_err().downcast::<HandshakeError>().unwrap();
    assert!(matches!(error, HandshakeError::Call(CallError::TimedOut { after, .. }) if after.as_secs() == 5));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_leaves_is_an_error() {
    let script = async |mut mock: Mock| {
        mock.expect("initialize").await;
    };
    let (result, ()) = with_mock(client(), script, async |_| Ok(())).await;
    assert_eq!(result.unwrap_err().to_string(), "the call has no answer: the connection closed");
}

#[tokio::test(start_paused = true)]
async fn the_parts_work_without_a_closure() {
    let (near, far) = agentwire_transport::duplex(1);
    let (connecting, driver) = client().start(near);
    let script = async {
        let mut mock = Mock::new(far);
        mock.greet(NEWEST).await;
        let ping = mock.expect("ping").await;
        mock.answer(&ping, json!({})).await;
    };
    let main = async {
        let server = connecting.await.unwrap();
        server.ping().await.unwrap();
        server.closed().await
    };
    let (closed, driven, ()) = tokio::join!(main, driver, script);
    assert!(closed.reason.is_none());
    driven.unwrap();
}

#[test]
fn a_connection_can_be_spawned() {
    fn is_send<T: Send>(_: &T) {}
    let (near, _far) = agentwire_transport::duplex(1);
    is_send(&client().connect(near, async |server| Ok(server.ping().await?)));
}

/// A server that dies before it answers: the error of the handshake knows how.
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_dies_in_the_handshake_tells_its_status() {
    use std::os::unix::process::ExitStatusExt;

    use agentwire_transport::Exited;
    use agentwire_transport_stdio::{Child, Command, Stderr};

    for (end, code, signal) in [("exit 3", Some(3), None), ("kill -9 $$", None, Some(9))] {
        let script = format!("read request; echo no database >&2; {end}");
        let child = Child::spawn(Command::new("sh").arg("-c").arg(script).stderr(Stderr::Capture)).unwrap();
        let error = agentwire_mcp_client::connect(child, async |_| Ok(())).await.unwrap_err();
        let exited = Exited::of(&error).unwrap_or_else(|| panic!("{error:#}"));
        let status = exited.status.unwrap();
        assert_eq!((status.code(), status.signal(), &*exited.stderr), (code, signal, "no database"));
    }
}

#[tokio::test(start_paused = true)]
async fn connection_ends_when_its_handle_is_no_longer_awaited() {
    let (near, far) = agentwire_transport::duplex(1);
    let (connecting, connection) = client().start(near);
    let script = async {
        let mut mock = Mock::new(far);
        mock.expect("initialize").await;
        mock.expect_end().await;
    };
    let given_up = async { assert!(tokio::time::timeout(Duration::from_secs(1), connecting).await.is_err()) };
    let ended = tokio::time::timeout(Duration::from_secs(5), connection);
    let (ended, (), ()) = tokio::join!(ended, given_up, script);
    ended.expect("nothing could use it any more").unwrap();
}

/// The hooks of the client are still called.
#[tokio::test(start_paused = true)]
async fn connection_goes_on_when_its_handle_is_dropped() {
    let (near, far) = agentwire_transport::duplex(1);
    let (connecting, connection) = client().start(near);
    let script = async {
        let mut mock = Mock::new(far);
        mock.greet(NEWEST).await;
        mock
    };
    let connected = async { drop(connecting.await.unwrap()) };
    let ended = tokio::time::timeout(Duration::from_secs(60), connection);
    let (ended, (), _mock) = tokio::join!(ended, connected, script);
    assert!(ended.is_err());
}

#[tokio::test(start_paused = true)]
async fn answer_that_belongs_to_no_call_is_a_warning() {
    use std::sync::{Arc, Mutex};

    let warnings = Arc::new(Mutex::new(Vec::new()));
    let heard = warnings.clone();
    let client = client()
        .timeout(Duration::from_secs(2))
        .on_warning(move |warning| heard.lock().unwrap().push(warning.to_string()));
    let script = async |mut mock: Mock| {
        mock.greet(NEWEST).await;
        let late = mock.expect("ping").await;
        let dropped = mock.expect("ping").await;
        for call in [&dropped, &late] {
            assert_eq!(mock.expect("notifications/cancelled").await["params"]["requestId"], call["id"]);
        }
        for (answered, id) in
            [(&late, late["id"].clone()), (&dropped, dropped["id"].clone()), (&late, json!("x"))]
        {
            let mut answered = answered.clone();
            answered["id"] = id;
            mock.answer(&answered, json!({})).await;
        }
        let ping = mock.expect("ping").await;
        mock.answer(&ping, json!({})).await;
    };
    let (result, ()) = with_mock(client, script, async |server| {
        let dropped = tokio::time::timeout(Duration::from_secs(1), server.ping());
        let (late, dropped) = tokio::join!(server.ping(), dropped);
        assert!(late.is_err() && dropped.is_err());
        server.ping().await?;
        Ok(())
    })
    .await;
    result.unwrap();
    let expected = ["2", r#""x""#]
        .map(|id| format!("an answer is left out: a result under the id {id}, which no open call has"));
    assert_eq!(*warnings.lock().unwrap(), expected);
}
