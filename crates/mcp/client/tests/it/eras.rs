//! The handshake with legacy and modern servers, and the choice between the eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::schema::{Revision, Root};
use agentwire_mcp_client::{CallError, Client, Era, HandshakeError, RemoteServer};
use agentwire_transport::{Packet, TransportError, duplex};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

use crate::mock::{MODERN, Mock, NEWEST, description, with_mock};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn client(era: Era) -> Client {
    Client::new("tester", "1.0.0").era(era)
}

fn auto() -> Client {
    client(Era::Auto)
}

async fn revision(server: RemoteServer) -> Result<Revision, agentwire_mcp_client::BoxError> {
    Ok(server.revision())
}

async fn refused(client: Client, script: impl AsyncFnOnce(Mock)) -> HandshakeError {
    let (result, ()) = with_mock(client, script, revision).await;
    result.unwrap_err().downcast().unwrap()
}

fn versions(code: i64, supported: &[&str]) -> Value {
    let data = json!({ "supported": supported, "requested": MODERN });
    json!({ "code": code, "message": "no such version", "data": data })
}

#[tokio::test(start_paused = true)]
async fn dis_01_a_modern_server_is_asked_what_it_is_and_nothing_else() {
    for era in [Era::Modern, Era::Auto] {
        let script = async |mut mock: Mock| {
            let request = mock.describe().await;
            let meta = &request["params"]["_meta"];
            assert_eq!(meta[VERSION], MODERN);
            let info = &meta["io.modelcontextprotocol/clientInfo"];
            assert_eq!(*info, json!({ "name": "tester", "version": "1.0.0" }));
            assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
            mock.expect_end().await;
        };
        let (result, ()) = with_mock(client(era), script, async |server| {
            assert_eq!(server.revision(), Revision::V2026_07_28);
            Ok((server.info().name.clone(), server.instructions().map(str::to_owned)))
        })
        .await;
        assert_eq!(result.unwrap(), ("mock".to_owned(), Some("Go.".to_owned())));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_need_not_say_who_it_is() {
    let script = async |mut mock: Mock| {
        let request = mock.expect("server/discover").await;
        let result = json!({ "supportedVersions": [MODERN, "2030-01-01"], "capabilities": {} });
        mock.answer(&request, result).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(auto(), script, async |server| Ok(server.info().name.clone())).await;
    assert_eq!(result.unwrap(), "");
}

/// Whatever the error is, and also where the answer is none to the question.
#[tokio::test(start_paused = true)]
async fn st_37_a_server_that_has_not_heard_of_it_gets_a_session_on_the_same_connection() {
    let error = |code: i64| json!({ "error": { "code": code, "message": "what?" } });
    let answers = [
        error(-32601),
        error(-32602),
        error(-32000),
        error(-32603),
        error(1),
        // One with the code but no version, and one that lists a version which it does not speak.
        error(-32022),
        json!({ "error": versions(-32602, &["1999-01-01"]) }),
        json!({ "result": {} }),
        json!({ "result": null }),
        json!({ "result": "hello" }),
        json!({ "result": { "resultType": "input_required", "requestState": "x" } }),
    ];
    for mut answer in answers {
        let script = async |mut mock: Mock| {
            let request = mock.expect("server/discover").await;
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = request["id"].clone();
            mock.send(answer.clone()).await;
            let request = mock.greet("2025-06-18").await;
            assert_eq!(request["params"]["protocolVersion"], NEWEST);
            assert_eq!(request["params"].get("_meta"), None);
            let ping = mock.expect("ping").await;
            assert_eq!(ping["params"].get("_meta"), None, "in a session nothing is repeated");
            mock.answer(&ping, json!({})).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_mock(auto(), script, async |server| {
            server.ping().await?;
            Ok(server.revision())
        })
        .await;
        assert_eq!(result.unwrap(), Revision::V2025_06_18, "{answer}");
    }
}

/// The answers of a server after its silence to the probe.
#[derive(Clone, Copy, PartialEq)]
enum After {
    /// It answers `initialize` alone.
    Session,
    /// It answers both, in their order.
    Both,
    /// It answers the probe, and refuses `initialize`.
    Modern,
    /// It refuses `initialize` first.
    ModernInTurn,
    /// It refuses `initialize`, and has dropped the probe.
    ModernWithoutProbe,
}

#[tokio::test(start_paused = true)]
async fn late_answer_to_the_probe_counts() {
    let seconds = Duration::from_secs;
    // How long `initialize` is waited for, and when the server sent its first sign of life.
    let times = [(None, None, 5), (Some(2), None, 2), (None, Some(3), 8)];
    let ways = [After::Session, After::Both, After::Modern, After::ModernInTurn, After::ModernWithoutProbe];
    for ((limit, sign, expected), after) in times.into_iter().flat_map(|time| ways.map(|way| (time, way))) {
        let script = async |mut mock: Mock| {
            let started = tokio::time::Instant::now();
            let discover = mock.expect("server/discover").await;
            if let Some(sign) = sign {
                tokio::time::sleep(seconds(sign)).await;
                mock.notify("notifications/message", json!({ "level": "info", "data": "up" })).await;
            }
            let initialize = mock.expect("initialize").await;
            assert_eq!(started.elapsed().as_secs(), expected);
            // As slow as npx.
            tokio::time::sleep(seconds(15)).await;
            let info = json!({ "name": "mock", "version": "1" });
            let session = json!({ "protocolVersion": NEWEST, "capabilities": {}, "serverInfo": info });
            let refusal = versions(-32022, &[MODERN]);
            match after {
                After::Session => mock.answer(&initialize, session).await,
                After::Both => {
                    mock.answer(&discover, description()).await;
                    mock.answer(&initialize, session).await;
                }
                After::Modern => {
                    mock.answer(&discover, description()).await;
                    mock.refuse(&initialize, refusal).await;
                }
                After::ModernInTurn => {
                    mock.refuse(&initialize, refusal).await;
                    tokio::time::sleep(seconds(1)).await;
                    mock.answer(&discover, description()).await;
                }
                After::ModernWithoutProbe => {
                    mock.refuse(&initialize, refusal).await;
                    let cancelled = mock.expect("notifications/cancelled").await;
                    assert_eq!(cancelled["params"]["requestId"], discover["id"]);
                    mock.describe().await;
                }
            }
            if after == After::Session {
                mock.expect("notifications/initialized").await;
                let cancelled = mock.expect("notifications/cancelled").await;
                assert_eq!(cancelled["params"]["requestId"], discover["id"]);
            }
            mock.expect_end().await;
        };
        let client = match limit {
            None => auto(),
            Some(limit) => auto().discover_timeout(seconds(limit)),
        };
        let (result, ()) = with_mock(client, script, async |server| {
            // What the server still sends disturbs nothing.
            tokio::time::sleep(seconds(5)).await;
            Ok(server.revision())
        })
        .await;
        let newest = if after == After::Session { Revision::V2025_11_25 } else { Revision::V2026_07_28 };
        assert_eq!(result.unwrap(), newest);
    }
}

#[tokio::test(start_paused = true)]
async fn st_42_the_newest_version_that_both_speak_is_taken() {
    // In the result and in the error, which is not a reason to use sessions by itself.
    let result = |supported: &[&str]| {
        let mut result = description();
        result["supportedVersions"] = json!(supported);
        json!({ "result": result })
    };
    let error = |supported: &[&str]| json!({ "error": versions(-32022, supported) });
    let expected = [
        (result(&[NEWEST, MODERN, "2025-03-26"]), None),
        (result(&["2024-11-05", "2025-03-26"]), Some("2025-03-26")),
        (error(&["2025-06-18", "1999-01-01", "2024-11-05"]), Some("2025-06-18")),
    ];
    for (mut answer, session) in expected {
        let script = async |mut mock: Mock| {
            let request = mock.expect("server/discover").await;
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = request["id"].clone();
            mock.send(answer.clone()).await;
            if let Some(version) = session {
                let request = mock.greet(version).await;
                assert_eq!(request["params"]["protocolVersion"], version);
            }
            mock.expect_end().await;
        };
        let (result, ()) = with_mock(auto(), script, revision).await;
        assert_eq!(result.unwrap().as_str(), session.unwrap_or(MODERN));
    }
}

#[tokio::test(start_paused = true)]
async fn st_42_a_server_that_refuses_the_version_it_names_is_asked_once_more_and_not_for_ever() {
    let script = async |mut mock: Mock| {
        let request = mock.expect("server/discover").await;
        mock.refuse(&request, versions(-32022, &[MODERN])).await;
        let again = mock.describe().await;
        assert_ne!(again["id"], request["id"]);
        assert_eq!(again["params"]["_meta"][VERSION], MODERN);
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(auto(), script, revision).await;
    assert_eq!(result.unwrap(), Revision::V2026_07_28);

    let error = refused(auto(), async |mut mock: Mock| {
        for _ in 0..2 {
            let request = mock.expect("server/discover").await;
            mock.refuse(&request, versions(-32022, &[MODERN])).await;
        }
        mock.expect_end().await;
    })
    .await;
    assert!(matches!(error, HandshakeError::VersionRefused(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn st_42_without_a_common_version_the_connection_ends() {
    for (era, supported) in [(Era::Auto, "2030-01-01"), (Era::Modern, "2030-01-01"), (Era::Modern, NEWEST)] {
        for in_result in [true, false] {
            let error = refused(client(era), async |mut mock: Mock| {
                let request = mock.expect("server/discover").await;
                if in_result {
                    let mut result = description();
                    result["supportedVersions"] = json!([supported]);
                    mock.answer(&request, result).await;
                } else {
                    mock.refuse(&request, versions(-32022, &[supported])).await;
                }
                mock.expect_end().await;
            })
            .await;
            let text = format!("the server refuses version `2026-07-28`; it speaks `{supported}`");
            assert_eq!(error.to_string(), text);
        }
    }
}

/// Only a modern server can say this, so `initialize` would be the wrong request.
#[tokio::test(start_paused = true)]
async fn st_37_an_error_of_the_modern_era_is_no_reason_for_a_session() {
    let lacking = json!({ "requiredCapabilities": { "roots": {} } });
    for error in [
        json!({ "code": -32020, "message": "headers" }),
        json!({ "code": -32021, "message": "capability", "data": lacking }),
    ] {
        let code = error["code"].as_i64();
        let error = refused(auto(), async |mut mock: Mock| {
            let request = mock.expect("server/discover").await;
            mock.refuse(&request, error).await;
            mock.expect_end().await;
        })
        .await;
        let HandshakeError::Call(error) = error else { panic!("{error}") };
        assert_eq!(error.refusal().map(|error| error.code), code);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_both_beginnings_is_quoted_on_both() {
    let error = refused(auto(), async |mut mock: Mock| {
        let request = mock.expect("server/discover").await;
        mock.refuse(&request, json!({ "code": -32603, "message": "out of order" })).await;
        let request = mock.expect("initialize").await;
        mock.refuse(&request, json!({ "code": -32601, "message": "only modern" })).await;
        mock.expect_end().await;
    })
    .await;
    assert!(matches!(error, HandshakeError::RefusedBoth { .. }));
    let text = WithCauses::new(&error).to_string();
    assert!(text.contains("out of order") && text.contains("only modern"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn only_the_modern_era_asks_for_no_session() {
    let error = refused(client(Era::Modern), async |mut mock: Mock| {
        let request = mock.expect("server/discover").await;
        mock.refuse(&request, json!({ "code": -32601, "message": "what?" })).await;
        mock.expect_end().await;
    })
    .await;
    assert!(matches!(error, HandshakeError::Call(CallError::Refused { .. })), "{error}");
    let error =
        refused(client(Era::Modern).handshake_timeout(Duration::from_secs(9)), async |mut mock: Mock| {
            mock.expect("server/discover").await;
            mock.expect("notifications/cancelled").await;
            mock.expect_end().await;
        })
        .await;
    assert!(matches!(error, HandshakeError::Call(CallError::TimedOut { after, .. }) if after.as_secs() == 9));
}

/// Only the owner of the transport knows the meaning of a fault.
#[tokio::test(start_paused = true)]
async fn a_fault_of_the_transport_is_no_reason_for_a_session() {
    let (near, mut far) = duplex(4);
    let script = async {
        let Some(Ok(Packet::Frame { .. })) = far.next().await else { panic!("server/discover") };
        let fault = Arc::new(TransportError::other("status 500"));
        far.send(Packet::RequestFailed { id: 1_u64.into(), error: fault }).await.unwrap();
        assert!(far.next().await.is_none(), "nothing more is tried");
    };
    let (result, ()) = tokio::join!(auto().connect(near, revision), script);
    let error = result.unwrap_err().into_inner().downcast::<HandshakeError>().unwrap();
    assert!(matches!(error, HandshakeError::Call(CallError::Failed { .. })), "{error}");

    let error = refused(auto(), async |mut mock: Mock| {
        mock.expect("server/discover").await;
    })
    .await;
    assert!(matches!(error, HandshakeError::Call(CallError::Closed(_))), "{error}");
}

#[tokio::test(start_paused = true)]
async fn clones_connect_by_themselves_and_share_what_they_were_given() {
    let heard = Arc::new(Mutex::new(0));
    let count = heard.clone();
    let client = auto()
        .roots(vec![Root::new("file:///repo")])
        .on_resource_updated(move |_| *count.lock().unwrap() += 1);
    for version in [MODERN, NEWEST, MODERN] {
        let script = async |mut mock: Mock| {
            if version == MODERN {
                mock.describe().await;
            } else {
                let request = mock.expect("server/discover").await;
                mock.refuse(&request, json!({ "code": -32601, "message": "what?" })).await;
                mock.greet(version).await;
            }
            let read = mock.expect("resources/read").await;
            mock.notify("notifications/resources/updated", json!({ "uri": "x:" })).await;
            mock.refuse(&read, json!({ "code": -32603, "message": "no" })).await;
            // What one connection has agreed on is nothing to another.
            mock.send(json!({ "jsonrpc": "2.0", "id": "mock", "method": "roots/list" })).await;
            if version == NEWEST {
                let roots = mock.next().await.expect("an answer");
                assert!(roots.get("result").is_some(), "{roots}");
            } else {
                let end = tokio::time::timeout(Duration::from_secs(9), mock.next()).await;
                assert!(end.is_err(), "a client sends no responses: {end:?}");
            }
        };
        let (result, ()) = with_mock(client.clone(), script, async |server| {
            assert!(server.read_resource("x:").await.is_err());
            server.closed().await;
            Ok(server.revision().to_string())
        })
        .await;
        assert_eq!(result.unwrap(), version);
    }
    assert_eq!(*heard.lock().unwrap(), 3);
}
