//! The hooks of a proxy for passing messages.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use agentwire_acp_proxy::{
    Direction, ErrorObject, Next, Notification, Peers, Proxy, RawJson, Request, Transparent,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::raw::{play, relayed};

type Answer = Result<RawJson, ErrorObject>;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned().into()).expect("JSON")
}

/// Does the work that a method names.
#[derive(Default)]
struct Odd {
    passed: Rc<RefCell<Vec<String>>>,
}

impl Proxy for Odd {
    async fn request(&self, mut request: Request, next: Next) -> Answer {
        self.passed.borrow_mut().push(format!("{:?} {}", next.direction(), request.method));
        match &*request.method {
            "_change" => {
                request.method = "_changed".into();
                request.params = Some(raw("[ 1 ]"));
                next.run(request).await.map(|result| raw(&format!(r#"{{"was":{result}}}"#)))
            }
            "_answer" => Ok(raw("{ }")),
            "_refuse" => Err(ErrorObject::new(7, "no")),
            "_panic" => panic!("as the test wants"),
            "_panic_later" => {
                let _passed = timeout(Duration::from_secs(1), next.run(request)).await;
                panic!("as the test wants")
            }
            "_impatient" => {
                let run = timeout(Duration::from_secs(1), next.run(request)).await;
                run.unwrap_or_else(|_| Ok(raw(r#""late""#)))
            }
            "_twice" => {
                let first = next.run(request.clone()).await?;
                let second = next.run(request).await?;
                Ok(raw(&format!("[{first},{second}]")))
            }
            "_ask_back" => {
                let other = next.peers().client().call("_really", None).await?;
                next.peers().agent().notify("_heard", Some(other)).await?;
                next.run(request).await
            }
            "_hold" => {
                next.cancelled().await;
                assert!(next.is_cancelled());
                next.run(request).await
            }
            "initialize" => match request.params.as_ref().map(RawJson::as_str) {
                Some(r#"{"alone":true}"#) => Ok(raw(r#"{"protocolVersion":1}"#)),
                Some(r#"{"version":true}"#) => {
                    next.run(request).await?;
                    Ok(raw(r#"{"protocolVersion":2}"#))
                }
                _ => {
                    let result = next.run(request).await?;
                    let mut result: Value = result.decode().map_err(ErrorObject::internal_error)?;
                    result["_meta"] = json!({ "by": "proxy" });
                    RawJson::encode(&result).map_err(ErrorObject::internal_error)
                }
            },
            _ => next.run(request).await,
        }
    }

    fn notification(&self, note: Notification, direction: Direction, peers: &Peers) -> Option<Notification> {
        self.passed.borrow_mut().push(format!("{direction:?} {}", note.method));
        match &*note.method {
            "_drop" => None,
            "_panic" => panic!("as the test wants"),
            "_double" => {
                peers.client().notify_now("_before", None).expect("it runs");
                Some(Notification::new("_after", note.params))
            }
            _ => Some(note),
        }
    }
}

#[test]
fn passing_messages_can_be_changed_answered_and_refused() {
    play(async {
        let (mut client, mut agent, _) = relayed(Odd::default());
        client.say(r#"{"jsonrpc":"2.0","id":"a","method":"_change","params":{"x":0}}"#).await;
        let id = agent.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_changed","params":[ 1 ]}"#).await;
        agent.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"y":1e2}}}}"#)).await;
        client.expect(r#"{"jsonrpc":"2.0","id":"a","result":{"was":{"y":1e2}}}"#).await;

        client.say(r#"{"jsonrpc":"2.0","id":-1,"method":"_answer"}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","id":-1,"result":{ }}"#).await;
        agent.say(r#"{"jsonrpc":"2.0","id":0,"method":"_refuse"}"#).await;
        agent.expect(r#"{"jsonrpc":"2.0","id":0,"error":{"code":7,"message":"no"}}"#).await;
        agent.say(r#"{"jsonrpc":"2.0","method":"_drop"}"#).await;
        agent.say(r#"{"jsonrpc":"2.0","method":"_double","params":{}}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","method":"_before"}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","method":"_after","params":{}}"#).await;
        agent.expect_silence().await;
    });
}

#[test]
fn a_hook_may_run_the_rest_twice_and_talk_to_both_ends() {
    play(async {
        let (mut client, mut agent, _) = relayed(Odd::default());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_twice"}"#).await;
        agent.answer("_twice", "1").await;
        agent.answer("_twice", "2").await;
        client.expect(r#"{"jsonrpc":"2.0","id":1,"result":[1,2]}"#).await;

        client.say(r#"{"jsonrpc":"2.0","id":2,"method":"_ask_back"}"#).await;
        client.answer("_really", r#"{"yes":true}"#).await;
        agent.expect(r#"{"jsonrpc":"2.0","method":"_heard","params":{"yes":true}}"#).await;
        agent.answer("_ask_back", "3").await;
        client.expect(r#"{"jsonrpc":"2.0","id":2,"result":3}"#).await;
    });
}

#[test]
fn everything_can_be_watched_both_ways() {
    play(async {
        let odd = Odd::default();
        let passed = odd.passed.clone();
        let (mut client, mut agent, _) = relayed(odd);
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt"}"#).await;
        client.say(r#"{"jsonrpc":"2.0","method":"session/cancel"}"#).await;
        agent.say(r#"{"jsonrpc":"2.0","method":"session/update"}"#).await;
        agent.say(r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file"}"#).await;
        client.hear().await;
        client.hear().await;
        agent.hear().await;
        agent.hear().await;
        let mut passed = passed.take();
        passed.sort();
        assert_eq!(
            passed,
            [
                "ToAgent session/cancel",
                "ToAgent session/prompt",
                "ToClient fs/read_text_file",
                "ToClient session/update",
            ]
        );
    });
}

#[test]
fn a_panic_answers_and_ends_nothing() {
    play(async {
        let (mut client, mut agent, _) = relayed(Odd::default());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_panic"}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error: the proxy panicked"}}"#).await;
        client.say(r#"{"jsonrpc":"2.0","method":"_panic"}"#).await;
        client.say(r#"{"jsonrpc":"2.0","id":2,"method":"_panic_later"}"#).await;
        let id = agent.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_panic_later"}"#).await;
        agent
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
            ))
            .await;
        assert_eq!(client.hear().await["error"]["code"], -32603);
        client.say(r#"{"jsonrpc":"2.0","id":3,"method":"_fine"}"#).await;
        agent.answer("_fine", "true").await;
        client.expect(r#"{"jsonrpc":"2.0","id":3,"result":true}"#).await;
    });
}

#[test]
fn px_02_the_version_of_the_agent_stays() {
    play(async {
        let (mut client, mut agent, _) = relayed(Odd::default());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"alone":true}}"#).await;
        assert_eq!(client.hear().await["error"]["code"], -32603);
        client.say(r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"version":true}}"#).await;
        agent.answer("initialize", r#"{"protocolVersion":1}"#).await;
        assert_eq!(client.hear().await["error"]["code"], -32603);
        client.say(r#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":2}}"#).await;
        agent.answer("initialize", r#"{"protocolVersion":2,"info":{}}"#).await;
        let answer = client.hear().await;
        let expected = json!({ "protocolVersion": 2, "info": {}, "_meta": { "by": "proxy" } });
        assert_eq!(answer["result"], expected, "what it may change it changes");
    });
}

#[test]
fn px_03_unknown_messages_pass_byte_for_byte() {
    let odd = r#"{ "_meta":{"b":[null, 1e-7],"a":"\u00e9"} , "x" : 12345678901234567890123, "x":"é \/" }"#;
    play(async {
        let (mut client, mut agent, _) = relayed(Transparent::default());
        for (near, far) in [(0, 1), (1, 0)] {
            let ends = [&mut client, &mut agent];
            ends[near].say(&format!(r#"{{"jsonrpc":"2.0","method":"future/thing","params":{odd}}}"#)).await;
            ends[far].expect(&format!(r#"{{"jsonrpc":"2.0","method":"future/thing","params":{odd}}}"#)).await;
            ends[near]
                .say(&format!(r#"{{"jsonrpc":"2.0","id":"\u0041","method":"_q","params":{odd}}}"#))
                .await;
            let id = ends[far]
                .expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"_q","params":{odd}}}"#))
                .await;
            ends[far].say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{odd}}}"#)).await;
            ends[near].expect(&format!(r#"{{"jsonrpc":"2.0","id":"\u0041","result":{odd}}}"#)).await;
            ends[near].say(r#"{"jsonrpc":"2.0","id":null,"method":"_e"}"#).await;
            let id = ends[far].expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_e"}"#).await;
            ends[far]
                .say(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"m","data":{odd}}}}}"#
                ))
                .await;
            ends[near]
                .expect(&format!(
                    r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32000,"message":"m","data":{odd}}}}}"#
                ))
                .await;
        }
    });
}

#[test]
fn px_05_a_cancel_gets_the_id_of_each_hop() {
    play(async {
        let (mut client, mut agent, _) = relayed(Odd::default());
        client.say(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt"}"#).await;
        let id = agent.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"session/prompt"}"#).await;
        client.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#).await;
        agent
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
            ))
            .await;
        // Its answer still comes.
        agent.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"cancelled"}}}}"#)).await;
        client.expect(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"cancelled"}}"#).await;

        // A cancel of a request that is over, or never was, is dropped.
        client.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#).await;
        client
            .say(&format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#))
            .await;
        agent.expect_silence().await;
    });
}

/// `elicitation/create` is the one request whose params name another.
#[test]
fn a_question_names_the_request_that_it_belongs_to_by_the_id_of_each_hop() {
    let asking = |id: &str| format!(r#"{{ "mode":"url","requestId":{id} ,"message":"\u00e9"}}"#);
    play(async {
        let (mut client, mut agent, _) = relayed(Transparent::default());
        client.say(r#"{"jsonrpc":"2.0","id":"login","method":"authenticate"}"#).await;
        let id = agent.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"authenticate"}"#).await;
        for (told, heard) in [(&*id, r#""login""#), ("99", "99"), (r#""login""#, r#""login""#)] {
            let (told, heard) = (asking(told), asking(heard));
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{told}}}"#);
            agent.say(&line).await;
            let line = r#"{"jsonrpc":"2.0","id":$id,"method":"elicitation/create","params":"#;
            let asked = client.expect(&format!("{line}{heard}}}")).await;
            client.say(&format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{{}}}}"#)).await;
            agent.expect(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
        }
    });
}

#[test]
fn px_05_request_cancelled_before_forwarding_is_not_forwarded() {
    play(async {
        let (mut client, mut agent, _) = relayed(Odd::default());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_hold"}"#).await;
        client.expect_silence().await;
        client.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#).await;
        client
            .expect(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"request cancelled"}}"#)
            .await;
        agent.expect_silence().await;
    });
}

#[test]
fn px_05_a_hook_that_lets_go_cancels() {
    play(async {
        let (mut client, mut agent, _) = relayed(Odd::default());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_impatient"}"#).await;
        let id = agent.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_impatient"}"#).await;
        agent
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
            ))
            .await;
        client.expect(r#"{"jsonrpc":"2.0","id":1,"result":"late"}"#).await;
        // The answer that comes after all is dropped.
        agent.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#)).await;
        client.expect_silence().await;
    });
}

#[test]
fn bad_lines_are_answered_where_they_came_from() {
    play(async {
        let (mut client, mut agent, _) = relayed(Transparent::default());
        client.say("no JSON").await;
        assert_eq!(client.hear().await["error"]["code"], -32700);
        agent.say(r#"{"jsonrpc":"2.0","id":4}"#).await;
        assert_eq!(agent.hear().await["error"]["code"], -32600);
        client.say("[]").await;
        assert_eq!(client.hear().await["error"]["code"], -32600);
        agent.expect_silence().await;
    });
}
