//! Requests that are answered before their handlers are done.

use std::cell::Cell;
use std::time::Duration;

use agentwire_jsonrpc::ErrorObject;
use serde_json::{Value, json};

use crate::support::{HOUR, acp, answering, asked, done, driver, note, settle, wire, with_wire, within};

fn request(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": text}})
}

/// The answer stands between the handler's messages before it and after it, and there is no second one.
#[tokio::test(start_paused = true)]
async fn a_handler_goes_on_after_its_answer() {
    let handler = answering(async |request, context| {
        let text = asked(&request);
        context.peer().notify(&note(1)).await?;
        context.answer(done(&text));
        context.answer(Err(ErrorObject::internal_error("a second answer")));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!context.is_cancelled(), "an answered request cannot be cancelled");
        context.peer().notify(&note(2)).await?;
        match text.as_str() {
            "panic" => panic!("after the answer"),
            _ => done("passed over"),
        }
    });
    with_wire(acp(), handler, async |_, mut far| {
        for (id, text) in [(1, "first"), (2, "panic")] {
            far.say(request(id, text));
            assert_eq!(far.heard().await["params"]["number"], 1);
            assert_eq!(far.heard().await, json!({"jsonrpc": "2.0", "id": id, "result": text}));
            // The id is free, and a message about it now concerns no request.
            far.say(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}));
            assert_eq!(far.heard().await["params"]["number"], 2);
            settle().await;
            assert_eq!(far.heard_so_far(), [] as [Value; 0]);
        }
    })
    .await;
}

/// An answer counts no longer against the limit on requests, and what goes on has the time to drain.
#[tokio::test(start_paused = true)]
async fn work_after_the_answer_is_not_a_request_and_is_drained() {
    let ended = Cell::new(0);
    let handler = answering(async |_, context| {
        context.answer(done("begun"));
        tokio::time::sleep(Duration::from_millis(500)).await;
        ended.set(ended.get() + 1);
        context.peer().notify(&note(7)).await?;
        done(())
    });
    let (_, driver) = driver(acp().request_limit(1));
    let (near, mut far) = wire();
    let script = async {
        far.say(request(1, ""));
        assert_eq!(far.heard().await["result"], "begun");
        far.say(request(2, ""));
        assert_eq!(far.heard().await["result"], "begun");
        far.hang_up();
        assert_eq!(far.heard().await["params"]["number"], 7);
        assert_eq!(far.heard().await["params"]["number"], 7);
        assert_eq!(far.heard().await, Value::Null);
    };
    let (served, ()) = within(HOUR, async { futures::join!(driver.serve(handler, near), script) }).await;
    assert!(served.is_ok());
    assert_eq!(ended.get(), 2);
}
