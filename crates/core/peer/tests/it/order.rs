//! The order of messages.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::ready;

use agentwire_peer::runtime::PeerExt;
use serde_json::{Value, json};

use crate::support::{
    acp, answering, ask, asked, done, give_way, hearing, mcp, note, noted, on, settle, with_wire,
};

fn request(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": text}})
}

fn notification(number: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "note", "params": {"number": number}})
}

#[tokio::test(start_paused = true)]
async fn messages_of_a_handler_precede_its_answer_in_many_bursts_at_once() {
    const BURST: u64 = 2_000;
    let handler = answering(async |request, context| {
        let first: u64 = asked(&request).parse().unwrap();
        for number in 0..BURST {
            context.peer().notify(&note(first + number)).await.unwrap();
        }
        done(first)
    });
    with_wire(acp().high_water(1 << 10), handler, async |_, mut far| {
        for burst in 0..4 {
            far.say(request(burst, &(burst * BURST).to_string()));
        }
        let mut heard = HashMap::<u64, u64>::new();
        let mut answered = 0;
        while answered < 4 {
            let message = far.heard().await;
            if let Some(number) = message["params"]["number"].as_u64() {
                let next = heard.entry(number / BURST).or_default();
                assert_eq!(number % BURST, *next, "out of order");
                *next += 1;
            } else {
                assert_eq!(heard[&message["id"].as_u64().unwrap()], BURST, "answered too early");
                answered += 1;
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn messages_before_an_answer_are_handled_before_the_call_resolves() {
    let heard = RefCell::new(Vec::new());
    let handler = hearing(|notification, _| heard.borrow_mut().push(noted(&notification)));
    with_wire(acp(), handler, async |peer, mut far| {
        let script = async {
            far.heard().await;
            (0..1_000).for_each(|number| far.say(notification(number)));
            far.say(json!({"jsonrpc": "2.0", "id": 1, "result": null}));
        };
        let call = async {
            peer.call(&ask("")).await.unwrap();
            assert!(heard.borrow().iter().copied().eq(0..1_000));
        };
        tokio::join!(call, script);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_handlers_first_part_precedes_all_later_messages() {
    let log = RefCell::new(Vec::new());
    let handler = on(
        async |request, _| {
            log.borrow_mut().push(asked(&request));
            if asked(&request) == "busy" {
                loop {
                    give_way().await;
                }
            }
            done(())
        },
        |notification, _| log.borrow_mut().push(noted(&notification).to_string()),
    );
    with_wire(acp(), handler, async |_, far| {
        // Busy handlers must not delay the others' first part.
        (0..4).for_each(|id| far.say(request(id, "busy")));
        while log.borrow().len() < 4 {
            give_way().await;
        }
        log.borrow_mut().clear();
        for number in 0..50 {
            far.say(request(100 + number, &format!("request {number}")));
            far.say(notification(number));
        }
        while log.borrow().len() < 100 {
            give_way().await;
        }
        let expected: Vec<_> =
            (0..50).flat_map(|number| [format!("request {number}"), number.to_string()]).collect();
        assert_eq!(*log.borrow(), expected);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_right_behind_its_request_is_not_lost() {
    let handler = answering(async |_, context| {
        give_way().await;
        context.cancelled().await;
        done("cancelled")
    });
    with_wire(acp(), handler, async |_, mut far| {
        far.say(request(5, ""));
        far.say(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 5}}));
        assert_eq!(far.heard().await, json!({"jsonrpc": "2.0", "id": 5, "result": "cancelled"}));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_in_the_batch_of_its_request_is_not_lost() {
    let handler = answering(async |_, context| {
        assert!(context.in_batch());
        context.cancelled().await;
        done("cancelled")
    });
    with_wire(mcp(), handler, async |peer, mut far| {
        peer.set_batches(true);
        let cancel =
            |id| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        far.say(json!([request(5, ""), cancel(5), request(6, "")]));
        settle().await;
        far.say(cancel(6));
        settle().await;
        // Nothing is owed any more, and the peer asked for no answer.
        far.say(json!([{"jsonrpc": "2.0", "id": 7}]));
        let refusal = far.heard().await;
        assert_eq!(refusal[0]["id"], 7, "{refusal}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn immediate_answers_are_sent_in_order() {
    let handler = answering(|request, _| ready(done(asked(&request))));
    with_wire(acp(), handler, async |_, mut far| {
        (0..2_000).for_each(|id| far.say(request(id, "")));
        for id in 0..2_000 {
            assert_eq!(far.heard().await["id"], id);
        }
    })
    .await;
}
