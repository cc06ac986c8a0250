//! The code of others may panic. It concerns no other code.

use std::future::ready;

use agentwire_jsonrpc::Response;
use serde_json::{Value, json};

use crate::support::{Far, ask, asked, done, give_way, mcp, noted, on, with_wire};

/// The expected panics are not printed, so that a reader of the test's output need not wonder.
fn quietly() {
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref() != Some(&"as asked") {
            eprintln!("{info}");
        }
    }));
}

fn request(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": text}})
}

async fn still_works(far: &mut Far) {
    far.say(request(99, "hello"));
    assert_eq!(far.heard().await, json!({"jsonrpc": "2.0", "id": 99, "result": "hello"}));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_answers_an_internal_error() {
    quietly();
    let handler = on(
        |request, _| {
            assert!(asked(&request) != "at once", "as asked");
            async move {
                assert!(asked(&request) != "at the start", "as asked");
                give_way().await;
                assert!(asked(&request) != "later", "as asked");
                done(asked(&request))
            }
        },
        |_, _| {},
    );
    with_wire(mcp(), handler, async |_, mut far| {
        for (id, when) in (1..).zip(["at once", "at the start", "later"]) {
            far.say(request(id, when));
            let answer = far.heard().await;
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)), "{when}");
            still_works(&mut far).await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn other_panics_are_passed_over() {
    quietly();
    let handler = on(
        |request, _| ready(done(asked(&request))),
        |notification, _| assert!(noted(&notification) != 1, "as asked"),
    )
    .unmatched_response(|_: Response| panic!("as asked"));
    with_wire(mcp(), handler, async |peer, mut far| {
        far.say(json!({"jsonrpc": "2.0", "method": "note", "params": {"number": 1}}));
        still_works(&mut far).await;
        far.say(json!({"jsonrpc": "2.0", "id": "none of ours", "result": 1}));
        still_works(&mut far).await;

        let mut reports = 0;
        let (sender, heard) = std::sync::mpsc::channel();
        let call = peer.call(&ask("")).on_progress(move |_| {
            reports += 1;
            sender.send(reports).unwrap();
            assert!(reports != 1, "as asked");
        });
        let script = async {
            assert_eq!(far.heard().await["id"], 1);
            for _ in 0..2 {
                let params = json!({"progressToken": 1, "progress": 1});
                far.say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
            }
            still_works(&mut far).await;
            far.say(json!({"jsonrpc": "2.0", "id": 1, "result": "survived"}));
        };
        assert_eq!(tokio::join!(call, script).0.unwrap(), "survived");
        assert!(heard.iter().eq([1, 2]));
    })
    .await;
}
