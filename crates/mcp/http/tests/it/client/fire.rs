//! Many calls at once, to a server whose every connection breaks off somewhere.

use std::cell::Cell;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::mock::{Chance, Client, EVENTS, Mock, Received, event, result};

const CALLS: u64 = 40;
const EVENTS_A_CALL: u64 = 50;

fn progress(call: u64, number: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": call, "progress": number}})
}

/// Plays the events of a call from where the client is, and stops at a random byte. One event always arrives, or
/// there would be nothing to go on from.
async fn play(request: Received, mut chance: Chance) {
    let (call, first) = match request.header("last-event-id").map(|id| id.split_once('-').unwrap()) {
        Some((call, number)) => (call.parse().unwrap(), number.parse::<u64>().unwrap() + 1),
        None => (request.id(), 0),
    };
    let mut events = (first..=EVENTS_A_CALL).map(|number| {
        let message = if number < EVENTS_A_CALL { progress(call, number) } else { result(call) };
        event(&format!("id: {call}-{number}\n"), &message)
    });
    let sure = events.next().unwrap();
    let rest: String = events.collect();
    let cut = chance.below(4000).min(rest.len());
    let mut socket = request.open(&format!("{EVENTS}retry: 1\n\n{sure}")).await;
    for piece in rest.as_bytes()[..cut].chunks(1 + chance.below(700)) {
        // A client that has all it wants may be gone.
        let _ = socket.write_all(piece).await;
        tokio::task::yield_now().await;
    }
    let _ = socket.shutdown().await;
}

/// Every event arrives exactly once and in order, whatever is cut.
#[tokio::test]
async fn nothing_is_lost_under_fire() {
    for seed in 1..4 {
        let mock = Mock::new().await;
        let mut client = mock.client();
        mock.session(&mut client).await;
        (1..=CALLS).for_each(|call| client.call(call));
        let connections = Cell::new(0);
        let server = async {
            let mut chance = Chance(seed);
            loop {
                tokio::spawn(play(mock.next().await, Chance(chance.below(usize::MAX) as u64)));
                connections.set(connections.get() + 1);
            }
        };
        tokio::select! {
            () = server => unreachable!("it serves for ever"),
            () = hear_all(&mut client) => {}
        }
        assert!(connections.get() > 2 * CALLS, "{} connections were cut", connections.get());
    }
}

async fn hear_all(client: &mut Client) {
    let mut next = vec![0; CALLS as usize + 1];
    for _ in 0..CALLS * (EVENTS_A_CALL + 1) {
        let message = client.frame().await;
        match message["id"].as_u64() {
            Some(call) => assert_eq!(next[call as usize], EVENTS_A_CALL, "the answer to {call} comes last"),
            None => {
                let call = message["params"]["progressToken"].as_u64().unwrap() as usize;
                assert_eq!(message["params"]["progress"], next[call], "in the course of {call}");
                next[call] += 1;
            }
        }
    }
}
