//! A proxy as a component of its own, whose conductor the test plays.

use std::time::Duration;

use agentwire_acp_proxy::{ErrorObject, Next, Proxy, ProxyError, RawJson, Request, Transparent, serve};
use serde_json::json;
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::timeout;

use crate::raw::{Raw, play, wire};

fn served(proxy: impl Proxy + 'static) -> (Raw, JoinHandle<Result<(), ProxyError>>) {
    let (transport, raw) = wire();
    (raw, spawn_local(serve(proxy, transport)))
}

#[test]
fn px_01_initialize_is_asked_of_the_successor() {
    for old in ["", "_"] {
        play(async move {
            let (mut conductor, _) = served(Transparent::default());
            conductor.say(&format!(r#"{{"jsonrpc":"2.0","id":"i","method":"{old}proxy/initialize","params":{{"protocolVersion":2,"_meta":{{"x":1}}}}}}"#)).await;
            let id = conductor.expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"{old}proxy/successor","params":{{"method":"initialize","params":{{"protocolVersion":2,"_meta":{{"x":1}}}}}}}}"#)).await;
            conductor
                .say(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":2, "_meta":{{}}}}}}"#
                ))
                .await;
            conductor
                .expect(r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":2, "_meta":{}}}"#)
                .await;
        });
    }
}

#[test]
fn px_01_a_proxy_is_no_agent() {
    play(async {
        let (mut client, _) = served(Transparent::default());
        client.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#).await;
        assert_eq!(client.hear().await["error"]["code"], -32600);
    });
}

#[test]
fn px_04_an_envelope_holds_one_message() {
    play(async {
        let (mut conductor, _) = served(Transparent::default());
        // To the agent: a request with and without params, a notification.
        conductor.say(r#"{"jsonrpc":"2.0","id":1,"method":"_q","params":{ "a":[1.0] }}"#).await;
        let id = conductor.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"proxy/successor","params":{"method":"_q","params":{ "a":[1.0] }}}"#).await;
        conductor
            .say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":5,"message":"m","data":[]}}}}"#))
            .await;
        conductor.expect(r#"{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"m","data":[]}}"#).await;
        conductor.say(r#"{"jsonrpc":"2.0","id":2,"method":"_\"q\""}"#).await;
        conductor
            .expect(r#"{"jsonrpc":"2.0","id":$id,"method":"proxy/successor","params":{"method":"_\"q\""}}"#)
            .await;
        conductor.say(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#).await;
        conductor.expect(r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/cancel","params":{"sessionId":"s"}}}"#).await;
        // From the agent. What an envelope has of its own is for this hop.
        conductor.say(r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"_meta":{"hop":1},"params":{"_meta":{"x": 1}},"method":"fs/read_text_file"}}"#).await;
        let id = conductor
            .expect(r#"{"jsonrpc":"2.0","id":$id,"method":"fs/read_text_file","params":{"_meta":{"x": 1}}}"#)
            .await;
        conductor.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#)).await;
        conductor.expect(r#"{"jsonrpc":"2.0","id":1,"result":null}"#).await;
        conductor.say(r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":[ ]}}"#).await;
        conductor.expect(r#"{"jsonrpc":"2.0","method":"session/update","params":[ ]}"#).await;
        conductor.expect_silence().await;
    });
}

#[test]
fn px_04_a_broken_envelope_is_refused() {
    play(async {
        let (mut conductor, _) = served(Transparent::default());
        for params in ["{}", "[]", r#"{"method":1}"#, r#"{"params":{}}"#] {
            conductor
                .say(&format!(r#"{{"jsonrpc":"2.0","id":"e","method":"proxy/successor","params":{params}}}"#))
                .await;
            let answer = conductor.hear().await;
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("e"), &json!(-32602)), "{params}");
            conductor
                .say(&format!(r#"{{"jsonrpc":"2.0","method":"proxy/successor","params":{params}}}"#))
                .await;
        }
        conductor.expect_silence().await;
    });
}

#[test]
fn px_05_a_cancel_is_never_in_an_envelope() {
    play(async {
        let (mut conductor, _) = served(Transparent::default());
        // The client's and the agent's requests are numbered alike within the proxy.
        conductor.say(r#"{"jsonrpc":"2.0","id":"c","method":"_from_client"}"#).await;
        let to_agent = conductor
            .expect(
                r#"{"jsonrpc":"2.0","id":$id,"method":"proxy/successor","params":{"method":"_from_client"}}"#,
            )
            .await;
        conductor
            .say(r#"{"jsonrpc":"2.0","id":"a","method":"proxy/successor","params":{"method":"_from_agent"}}"#)
            .await;
        let to_client = conductor.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_from_agent"}"#).await;
        assert_ne!(to_agent, to_client);
        for (id, mapped) in [("a", &to_client), ("c", &to_agent)] {
            conductor
                .say(&format!(
                    r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":"{id}"}}}}"#
                ))
                .await;
            conductor
                .expect(&format!(
                    r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{mapped}}}}}"#
                ))
                .await;
            conductor
                .say(&format!(
                    r#"{{"jsonrpc":"2.0","id":{mapped},"error":{{"code":-32800,"message":"cancelled"}}}}"#
                ))
                .await;
            conductor
                .expect(&format!(
                    r#"{{"jsonrpc":"2.0","id":"{id}","error":{{"code":-32800,"message":"cancelled"}}}}"#
                ))
                .await;
        }
        conductor
            .say(r#"{"jsonrpc":"2.0","id":"d","method":"proxy/successor","params":{"method":"_from_agent"}}"#)
            .await;
        conductor.hear().await;
        conductor.say(r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"$/cancel_request","params":{"requestId":"d"}}}"#).await;
        conductor.expect_silence().await;
    });
}

#[test]
fn a_component_answers_what_it_can_and_ends_with_its_conductor() {
    /// Does not wait for ever.
    struct Impatient;

    impl Proxy for Impatient {
        async fn request(&self, request: Request, next: Next) -> Result<RawJson, ErrorObject> {
            let run = timeout(Duration::from_secs(1), next.run(request)).await;
            run.unwrap_or_else(|_| Err(ErrorObject::new(1, "late")))
        }
    }

    play(async {
        let (mut conductor, ended) = served(Impatient);
        conductor.say(r#"{"jsonrpc":"2.0","id":1,"method":"_q"}"#).await;
        let id = conductor
            .expect(r#"{"jsonrpc":"2.0","id":$id,"method":"proxy/successor","params":{"method":"_q"}}"#)
            .await;
        conductor.expect(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"late"}}"#).await;
        conductor
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
            ))
            .await;
        conductor.say(r#"{"jsonrpc":"2.0","id":2,"method":"_q"}"#).await;
        conductor.finish().await;
        // The agent is gone with the conductor.
        assert_eq!(conductor.hear().await["error"]["code"], -32603);
        conductor.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}
