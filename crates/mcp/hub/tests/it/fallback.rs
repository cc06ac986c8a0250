//! Detection of the transport and revision of a server on the network.

use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::schema::LoggingLevel;
use agentwire_mcp_client::{BoxError, CallError, Client, Era, HandshakeError};
use agentwire_mcp_hub::{
    Attempt, ConnectError, ConnectOptions, HttpKind, HttpTarget, Memory, Target, connect_to,
};

use crate::web::Answer::{HangsUp, Page, Refuses, RefusesNobody, Silence, Status, Works, WorksTheSecondTime};
use crate::web::{Part, Web};

/// The time limit of a request that a silent server leaves unanswered.
const PATIENCE: Duration = Duration::from_millis(300);

/// Connects and calls a tool. Returns the revision and the tool's text.
async fn call(target: impl Into<Target>, options: &ConnectOptions) -> Result<String, BoxError> {
    call_in(Era::Auto, target, options).await
}

/// The same in one era.
async fn call_in(era: Era, target: impl Into<Target>, options: &ConnectOptions) -> Result<String, BoxError> {
    // Only reached by a test that would never end.
    let limit = Duration::from_secs(20);
    let limits = |client: Client| client.discover_timeout(limit).handshake_timeout(limit);
    call_with(target, options, |client| limits(client).era(era)).await
}

/// The same of a server that may be silent.
async fn call_part(web: &Web, part: Part) -> Result<String, BoxError> {
    call_with(web.target(), &ConnectOptions::new(), |client| {
        let is_silent = |answer| matches!(answer, Silence | WorksTheSecondTime);
        let limit = |answer| if is_silent(answer) { PATIENCE } else { Duration::from_secs(20) };
        client.discover_timeout(limit(part.discover)).handshake_timeout(limit(part.initialize))
    })
    .await
}

async fn call_with(
    target: impl Into<Target>,
    options: &ConnectOptions,
    limits: impl FnOnce(Client) -> Client,
) -> Result<String, BoxError> {
    let client = limits(Client::new("test", "1").log_level(LoggingLevel::Warning));
    Ok(connect_to(&target.into(), options, client, async |server| {
        assert_eq!(server.tools().collect().await?[0].name, "ping");
        let result = server.call_tool("ping", ()).await?;
        Ok(format!("{} {}", server.revision(), result.text()))
    })
    .await?)
}

const MODERN: &str = "2026-07-28 pong";
const LEGACY: &str = "2025-06-18 pong";

/// Each server, the attempts in their order, and the outcome.
#[tokio::test]
async fn newest_transport_and_revision_of_every_server_are_used() {
    let discovered: &[&str] = &["server/discover"];
    let initialized: &[&str] = &["server/discover", "initialize"];
    let streamed: &[&str] = &["server/discover", "initialize", "GET"];
    let rows: Vec<(Part, &[&str], &str)> = vec![
        (Part::MODERN, discovered, MODERN),
        (Part { initialize: Works, ..Part::MODERN }, discovered, MODERN),
        // Responses of servers with sessions to an unknown request outside of any session.
        (Part::legacy(Status(400)), initialized, LEGACY),
        (Part::legacy(Status(404)), initialized, LEGACY),
        (Part::legacy(Status(405)), initialized, LEGACY),
        (Part::legacy(Status(406)), initialized, LEGACY),
        (Part::legacy(Status(415)), initialized, LEGACY),
        (Part::legacy(Status(422)), initialized, LEGACY),
        (Part::legacy(RefusesNobody(400, -32000, &[])), initialized, LEGACY),
        (Part::legacy(RefusesNobody(404, -32001, &[])), initialized, LEGACY),
        (Part::legacy(RefusesNobody(400, -32022, &["2025-06-18"])), initialized, LEGACY),
        (Part::legacy(Refuses(200, -32601, &[])), initialized, LEGACY),
        (Part::legacy(Refuses(200, -32600, &[])), initialized, LEGACY),
        (Part::legacy(Refuses(200, 0, &[])), initialized, LEGACY),
        (Part::legacy(Refuses(400, -32602, &[])), initialized, LEGACY),
        (Part::legacy(Refuses(404, -32601, &[])), initialized, LEGACY),
        (Part::legacy(Refuses(400, -32022, &["2025-11-25", "2025-06-18"])), initialized, LEGACY),
        (Part::legacy(Page), initialized, LEGACY),
        (Part::legacy(Status(202)), initialized, LEGACY),
        (Part::legacy(Silence), initialized, LEGACY),
        // Too slow with its answer, so that `initialize` comes before it.
        (
            Part {
                discover: WorksTheSecondTime,
                initialize: RefusesNobody(400, -32022, &["2026-07-28"]),
                ..Part::MODERN
            },
            &["server/discover", "initialize", "server/discover"],
            MODERN,
        ),
        // Servers of HTTP+SSE.
        (Part::old(Status(400)), streamed, LEGACY),
        (Part::old(Status(404)), streamed, LEGACY),
        (Part::old(Status(405)), streamed, LEGACY),
        (Part::old(RefusesNobody(400, -32000, &[])), streamed, LEGACY),
        (Part { discover: Refuses(200, -32601, &[]), ..Part::old(Status(404)) }, streamed, LEGACY),
    ];
    for (part, tried, expected) in rows {
        let web = Web::playing(part).await;
        let outcome = call_part(&web, part).await;
        assert_eq!(outcome.as_deref().ok(), Some(expected), "{part:?}: {:?}: {outcome:?}", web.tried());
        assert_eq!(web.tried(), tried, "{part:?}");
    }
}

/// A status about the caller, the time or a fault of the server does not depend on the revision or the transport.
#[tokio::test]
async fn error_to_no_question_of_the_era_is_reported() {
    let discovered: &[&str] = &["server/discover"];
    let initialized: &[&str] = &["server/discover", "initialize"];
    let streamed: &[&str] = &["server/discover", "initialize", "GET"];
    let unknown = Status(404);
    let rows: Vec<(Part, &[&str], &str)> = vec![
        (Part::old(Status(401)), discovered, "server/discover: failed: HTTP status 401"),
        (Part::old(Status(403)), discovered, "server/discover: failed: HTTP status 403"),
        (Part::old(Status(408)), discovered, "server/discover: failed: HTTP status 408"),
        (Part::old(Status(429)), discovered, "server/discover: failed: HTTP status 429"),
        (Part::old(Status(500)), discovered, "server/discover: failed: HTTP status 500"),
        (Part::old(Status(503)), discovered, "server/discover: failed: HTTP status 503"),
        (Part::old(HangsUp), discovered, "server/discover: failed: no HTTP response"),
        (Part::old(Silence), initialized, "initialize: no answer within 300ms"),
        (
            Part::legacy(RefusesNobody(400, -32020, &[])),
            discovered,
            "server/discover: failed: HTTP status 400",
        ),
        (Part::legacy(RefusesNobody(400, -32022, &["2099-01-01"])), discovered, "2099-01-01"),
        (Part::legacy(Refuses(400, -32022, &["2099-01-01"])), discovered, "2099-01-01"),
        (
            Part { initialize: Status(401), ..Part::legacy(unknown) },
            initialized,
            "initialize: failed: HTTP status 401",
        ),
        (
            Part { initialize: Status(500), ..Part::legacy(unknown) },
            initialized,
            "initialize: failed: HTTP status 500",
        ),
        (Part { initialize: Refuses(400, -1, &[]), ..Part::legacy(unknown) }, initialized, "played"),
        // It knows `initialize`, so its refusal of the next request shows nothing of the transport.
        (
            Part { logs: true, ..Part::legacy(unknown) },
            initialized,
            "logging/setLevel: failed: HTTP status 400",
        ),
        (Part { get: Status(405), ..Part::old(unknown) }, streamed, "initialize: failed: HTTP status 404"),
        // Both ways failed at `initialize`.
        (
            Part { get: Status(401), ..Part::old(unknown) },
            streamed,
            "(initialize: failed: HTTP status 404 Not Found: played): the call has no answer: the connection closed: \
             HTTP status 401",
        ),
        (Part { get: Page, ..Part::old(unknown) }, streamed, "initialize: failed: HTTP status 404"),
    ];
    for (part, tried, words) in rows {
        let web = Web::playing(part).await;
        let error = call_part(&web, part).await.unwrap_err();
        assert!(error.to_string().contains(words), "{part:?}: {:?}: {error}", web.tried());
        assert_eq!(web.tried(), tried, "{part:?}");
        match error.downcast_ref() {
            Some(ConnectError::Exhausted { attempts, .. }) => assert!(attempts.len() > 1, "{error}"),
            _ => assert!(error.is::<HandshakeError>(), "{error:?}"),
        }
    }
}

#[tokio::test]
async fn unreachable_server_fails_at_once() {
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let target = HttpTarget::new(&format!("http://{nobody}/mcp")).unwrap();
    let error = call(target, &ConnectOptions::new()).await.unwrap_err();
    let Some(HandshakeError::Call(CallError::Failed { .. })) = error.downcast_ref() else {
        panic!("{error:?}")
    };
    assert!(error.to_string().starts_with("server/discover: failed: no HTTP response: "), "{error}");
}

/// An era, a transport, a server that may not know them, and what is tried of it.
#[tokio::test]
async fn chosen_era_is_not_left() {
    use Era::{Auto, Legacy, Modern};
    let both = Part { discover: Works, ..Part::legacy(Works) };
    let legacy = Part::legacy(Refuses(200, -32601, &[]));
    let old = Part::old(Status(405));
    type Row = (Era, HttpKind, Part, &'static [&'static str], Result<&'static str, &'static str>);
    let rows: Vec<Row> = vec![
        (Modern, HttpKind::Any, both, &["server/discover"], Ok(MODERN)),
        (Modern, HttpKind::Any, legacy, &["server/discover"], Err("server/discover: refused")),
        (Modern, HttpKind::Any, old, &["server/discover"], Err("HTTP status 405")),
        (Legacy, HttpKind::Any, both, &["initialize"], Ok(LEGACY)),
        (Legacy, HttpKind::Any, Part::MODERN, &["initialize"], Err("it speaks `2026-07-28`")),
        (Legacy, HttpKind::Any, old, &["initialize", "GET"], Ok(LEGACY)),
        (Auto, HttpKind::Streamable, both, &["server/discover"], Ok(MODERN)),
        (Auto, HttpKind::Streamable, old, &["server/discover", "initialize"], Err("HTTP status 405")),
        (Auto, HttpKind::Sse, old, &["GET"], Ok(LEGACY)),
        (Legacy, HttpKind::Sse, old, &["GET"], Ok(LEGACY)),
        (Auto, HttpKind::Sse, both, &["GET"], Err("405")),
        (Modern, HttpKind::Sse, old, &[], Err("HTTP+SSE has no modern revision")),
    ];
    for (era, kind, part, tried, expected) in rows {
        let web = Web::playing(part).await;
        let outcome = call_in(era, web.target().kind(kind), &ConnectOptions::new()).await;
        let outcome = outcome.map_err(|error| error.to_string());
        let is_it = match (&outcome, expected) {
            (Ok(text), Ok(expected)) => text == expected,
            (Err(text), Err(words)) => text.contains(words),
            _ => false,
        };
        assert!(is_it, "{era:?} {kind:?} {part:?}: {:?}: {outcome:?}", web.tried());
        assert_eq!(web.tried(), tried, "{era:?} {kind:?} {part:?}");
    }
}

#[tokio::test]
async fn next_connection_begins_where_the_last_one_succeeded() {
    let memory = Memory::new();
    let options = ConnectOptions::new().memory(memory.clone());
    let web = Web::playing(Part::old(Status(404))).await;
    let again = async |part, tried: &[&str], expected| {
        web.play(part);
        let outcome = call(web.target(), &options).await;
        assert_eq!(outcome.as_deref().ok(), expected, "{part:?}: {outcome:?}");
        assert_eq!(web.tried(), tried, "{part:?}");
    };
    let legacy = Part::legacy(Refuses(200, -32601, &[]));
    again(Part::old(Status(404)), &["server/discover", "initialize", "GET"], Some(LEGACY)).await;
    again(Part::old(Status(404)), &["GET"], Some(LEGACY)).await;
    // The server has been replaced: the remembered attempt fails, and detection starts again.
    again(legacy, &["GET", "server/discover", "initialize"], Some(LEGACY)).await;
    again(legacy, &["initialize"], Some(LEGACY)).await;
    again(Part::MODERN, &["initialize", "server/discover"], Some(MODERN)).await;
    again(Part::MODERN, &["server/discover"], Some(MODERN)).await;
    again(legacy, &["server/discover", "server/discover", "initialize"], Some(LEGACY)).await;
    // The server no longer supports sessions, and its refusal has no id.
    let only_modern = Part { initialize: RefusesNobody(400, -32022, &["2026-07-28"]), ..Part::MODERN };
    again(only_modern, &["initialize", "server/discover"], Some(MODERN)).await;
    again(legacy, &["server/discover", "server/discover", "initialize"], Some(LEGACY)).await;
    // The server fails, which shows nothing about its era; but the remembered attempt may be the reason.
    again(Part { initialize: Status(500), ..legacy }, &["initialize"], None).await;
    again(legacy, &["server/discover", "initialize"], Some(LEGACY)).await;
    // An entry from a client limited to one era is not used by others.
    let options = ConnectOptions::new().memory(memory);
    for (part, tried, expected) in [
        (Part { discover: Works, ..legacy }, vec!["initialize"], LEGACY),
        (Part::old(Status(404)), vec!["initialize", "GET"], LEGACY),
        (Part::old(Status(404)), vec!["GET"], LEGACY),
    ] {
        web.play(part);
        assert_eq!(call_in(Era::Legacy, web.target(), &options).await.unwrap(), expected);
        assert_eq!(web.tried(), tried, "{part:?}");
    }
    web.play(Part { discover: Works, ..legacy });
    let modern = call_in(Era::Modern, web.target(), &options).await;
    assert_eq!((modern.unwrap().as_str(), web.tried()), (MODERN, vec!["server/discover".to_owned()]));
}

#[tokio::test]
async fn headers_go_along_with_everything() {
    for part in [Part::MODERN, Part::legacy(Status(400)), Part::old(Status(405))] {
        let web = Web::playing(part).await;
        let target = web.target().header("Authorization", "Bearer secret").unwrap();
        call(target, &ConnectOptions::new()).await.unwrap();
        assert!(web.last_headers().contains("authorization: bearer secret"), "{part:?}");
        web.play(part);
        let url = web.url.replace("://", "://me:secret@");
        call(HttpTarget::new(&url).unwrap(), &ConnectOptions::new()).await.unwrap();
        assert!(web.last_headers().contains("authorization: basic bwu6c2vjcmv0"), "{part:?}");
    }
}

#[tokio::test]
async fn the_limits_of_the_transports_can_be_set() {
    for (part, kind) in [(Part::MODERN, HttpKind::Streamable), (Part::old(Status(405)), HttpKind::Sse)] {
        for (limit, fits) in [(1 << 20, true), (40, false)] {
            let web = Web::playing(part).await;
            let target = web.target().kind(kind);
            let target = target.streamable_with(|config| config.message_limit(limit));
            let target = target.sse_with(|config| config.with_http(|http| http.message_limit(limit)));
            assert_eq!(call(target, &ConnectOptions::new()).await.is_ok(), fits, "{kind:?} {limit}");
        }
    }
}

/// The error names every attempt, and has most about the one that counts.
#[tokio::test]
async fn error_names_all_attempts() {
    let web = Web::playing(Part { get: Status(405), ..Part::old(Status(404)) }).await;
    let error = call(web.target(), &ConnectOptions::new()).await.unwrap_err();
    let Some(ConnectError::Exhausted { attempts, .. }) = error.downcast_ref() else { panic!("{error:?}") };
    let tried: Vec<_> = attempts.iter().map(|attempt| attempt.attempt).collect();
    assert_eq!(tried, [Attempt::Auto, Attempt::Sse]);
    let decisive = WithCauses::new(error.source().unwrap()).to_string();
    assert!(decisive.starts_with("initialize: failed: HTTP status 404"), "{decisive}");
    // Who wants to know who asks is there.
    let web = Web::playing(Part { get: Status(401), ..Part::old(Status(404)) }).await;
    let error = call(web.target(), &ConnectOptions::new()).await.unwrap_err();
    let decisive = WithCauses::new(error.source().unwrap()).to_string();
    assert!(decisive.contains("401") && !decisive.contains("404"), "{decisive}");
}
