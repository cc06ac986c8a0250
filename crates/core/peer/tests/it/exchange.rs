//! Two drivers, back to back.

use std::cell::RefCell;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{CallError, Handler, Peer, RequestContext};
use agentwire_transport::duplex;
use serde_json::{Value, json};

use crate::support::{
    Answer, HOUR, acp, answering, ask, asked, deaf, done, driver, hearing, note, noted, settle, with_wire,
    within,
};

async fn subject(request: Request, context: RequestContext) -> Answer {
    match &*asked(&request) {
        "ask back" => done(context.peer().call(&ask("back")).await?),
        "ask for ever" => done(context.peer().call(&ask("ask for ever")).await?),
        "burst" => {
            for number in 0..10_000 {
                context.peer().notify(&note(number)).await?;
            }
            done("done")
        }
        "refuse" => Err(ErrorObject::new(-7, "no").with_data(&1)),
        text => done(text),
    }
}

/// Runs `main` against a subject and gives what it gave.
async fn with_subject<R>(handler: impl Handler, main: impl AsyncFnOnce(Peer) -> R) -> R {
    let (left, right) = duplex(8);
    let (peer, near) = driver(acp());
    let (_, far) = driver(acp());
    let both =
        async { tokio::join!(near.run(handler, left, main(peer)), far.serve(answering(subject), right)) };
    let (result, served) = within(HOUR, both).await;
    served.unwrap();
    result.0
}

#[tokio::test(start_paused = true)]
async fn a_call_is_answered() {
    let answer = with_subject(deaf(), async |peer| peer.call(&ask("hello")).await.unwrap()).await;
    assert_eq!(answer, "hello");
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_call_back() {
    let answer = with_subject(answering(subject), async |peer| peer.call(&ask("ask back")).await.unwrap());
    assert_eq!(answer.await, "back");
}

#[tokio::test(start_paused = true)]
async fn handlers_that_ask_each_other_for_ever_end_at_a_limit() {
    let error = with_subject(answering(subject), async |peer| peer.call(&ask("ask for ever")).await);
    let error = error.await.unwrap_err();
    assert!(error.refusal().unwrap().message.contains("limit"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn notifications_come_in_order_and_before_the_answer() {
    let heard = RefCell::new(Vec::new());
    let handler = hearing(|notification, _| heard.borrow_mut().push(noted(&notification)));
    with_subject(handler, async |peer| peer.call(&ask("burst")).await.unwrap()).await;
    assert!(heard.borrow().iter().copied().eq(0..10_000));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_apart() {
    let error = with_subject(deaf(), async |peer| peer.call(&ask("refuse")).await.unwrap_err()).await;
    let refusal = error.refusal().unwrap();
    assert_eq!((refusal.code, &*refusal.message, refusal.data.as_ref().unwrap().as_str()), (-7, "no", "1"));
    // A handler that passes on the failure of a call of its own names the call.
    assert!(ErrorObject::from(error).message.contains("ask"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_read_is_told_apart() {
    let error = with_subject(deaf(), async |peer| {
        peer.call_method::<_, u8>("ask", Some(&ask("text"))).await.unwrap_err()
    })
    .await;
    assert!(matches!(error, CallError::Decode { ref method, .. } if *method == "ask"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_takes_too_much_memory_is_not_decoded() {
    with_wire(acp().value_limit(100_000), deaf(), async |peer, mut far| {
        let mut ask = async |result: Value| {
            let call = peer.call_method::<_, Value>("ask", None::<&()>);
            let answer = async {
                let id = far.heard().await["id"].clone();
                far.say(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            };
            tokio::join!(call, answer).0
        };
        let error = ask(vec![0; 2000].into()).await.unwrap_err();
        assert!(error.to_string().contains("100000 bytes of memory (Config::value_limit)"), "{error}");
        // The text of strings is as long as it was before.
        assert!(ask("x".repeat(200_000).into()).await.is_ok());
        assert!(ask(vec![0; 100].into()).await.is_ok());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn unserializable_message_is_not_sent() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let nameless = std::collections::HashMap::from([((1, 2), 3)]);
        let error = peer.call_method::<_, Value>("ask", Some(&nameless)).await.unwrap_err();
        assert!(matches!(error, CallError::Encode { .. }), "{error}");
        let error = peer.notify_method("note", Some(&nameless)).await.unwrap_err();
        assert!(matches!(error, CallError::Encode { .. }), "{error}");
        let error = peer.refuse_call::<Value>(CallError::not_allowed("ask", "not now")).await.unwrap_err();
        assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
        settle().await;
        assert_eq!(far.heard_so_far(), [] as [Value; 0]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn each_message_has_its_form() {
    with_wire(acp(), answering(subject), async |peer, mut far| {
        let call = async { peer.call_method::<(), RawJson>("plain", None).await.unwrap() };
        let script = async {
            assert_eq!(far.heard().await, json!({"jsonrpc": "2.0", "id": 1, "method": "plain"}));
            far.say(json!({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}));
        };
        assert_eq!(tokio::join!(call, script).0.as_str(), r#"{"a":1}"#);
        peer.notify_now(&note(1)).unwrap();
        assert_eq!(far.heard().await, json!({"jsonrpc": "2.0", "method": "note", "params": {"number": 1}}));
        far.say(json!({"jsonrpc": "2.0", "id": "x", "method": "ask", "params": {"text": "hi"}}));
        assert_eq!(far.heard().await, json!({"jsonrpc": "2.0", "id": "x", "result": "hi"}));
    })
    .await;
}
