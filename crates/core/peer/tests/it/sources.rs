//! A handler learns how each request came in.

use std::sync::Arc;

use agentwire_jsonrpc::Frame;
use agentwire_peer::RequestContext;
use agentwire_peer::runtime::PeerExt;
use agentwire_transport::{MessageSource, Packet};
use serde_json::{Value, json};

use crate::support::{answering, done, mcp, with_wire};

#[derive(Debug)]
struct Numbered(u64);

impl MessageSource for Numbered {}

fn packet(message: &Value, number: u64) -> Packet {
    let frame = Frame::parse(message.to_string().into());
    Packet::Frame { frame, in_reply_to: None, source: Some(Arc::new(Numbered(number))) }
}

fn ask(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ask" })
}

fn number(context: &RequestContext) -> Option<u64> {
    context.source().and_then(|source| source.downcast_ref::<Numbered>()).map(|numbered| numbered.0)
}

#[tokio::test(start_paused = true)]
async fn each_request_has_the_origin_of_what_brought_it() {
    // The even ones have to wait, so that they are answered while others come in.
    let handler = answering(async |request, context: RequestContext| {
        if request.id.as_u64().is_some_and(|id| id % 2 == 0) {
            tokio::task::yield_now().await;
        }
        done(number(&context))
    });
    with_wire(mcp(), handler, async |peer, mut far| {
        peer.set_batches(true);
        far.give(packet(&ask(1), 10));
        far.say(ask(2));
        far.give(packet(&json!([ask(3), ask(4)]), 30));
        far.give(packet(&ask(6), 60));
        far.say(ask(5));
        let mut answers = Vec::new();
        while answers.len() < 6 {
            match far.heard().await {
                Value::Array(batch) => answers.extend(batch),
                answer => answers.push(answer),
            }
        }
        answers.sort_by_key(|answer| answer["id"].as_u64());
        let results: Vec<_> = answers.iter().map(|answer| answer["result"].as_u64()).collect();
        assert_eq!(results, [Some(10), None, Some(30), Some(30), None, Some(60)]);
    })
    .await;
}
