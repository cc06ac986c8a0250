//! Models of the in-memory transport: a full queue, and a dropped end.

use futures::{SinkExt, StreamExt};
use loom::future::block_on;
use loom::thread;

use crate::{Packet, duplex};

/// The second packet waits until the reader takes the first.
pub fn a_packet_passes_through_a_full_duplex() {
    let (mut left, mut right) = duplex(0);
    let writer = thread::spawn(move || {
        block_on(async {
            for number in 0..2 {
                left.send(Packet::from_json(&number.to_string())).await.expect("the other end is there");
            }
            left.close().await.expect("nothing is in the way");
            left
        })
    });
    let received = block_on(async {
        let mut received = 0;
        while let Some(packet) = right.next().await {
            packet.expect("no fault");
            received += 1;
        }
        received
    });
    assert_eq!(received, 2);
    drop(writer.join().expect("no panic"));
}

/// The other end is dropped while this one waits for room or for a packet.
pub fn a_dropped_end_is_reported() {
    let (mut left, right) = duplex(0);
    let leaver = thread::spawn(move || drop(right));
    block_on(async {
        // Only the second may have to wait.
        let _first = left.send(Packet::from_json("0")).await;
        assert!(left.send(Packet::from_json("1")).await.is_err() || left.next().await.is_none());
        assert!(left.next().await.is_none());
    });
    leaver.join().expect("no panic");
}
