use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_transport::{Packet, TransportError, duplex};
use futures::executor::block_on;
use futures::{Sink, SinkExt, StreamExt};

use crate::{Wakes, all, close, is_ready, next, note, note_text, ready, send};

#[test]
fn gives_what_was_sent_untouched_and_in_order() {
    let (mut left, mut right) = duplex(8);
    let packets = [
        Packet::new(note("a", 1)),
        Packet::CallerLeft("x".into()),
        Packet::from_json("no JSON"),
        Packet::Frame { frame: note("b", 1).into(), in_reply_to: Some(7u64.into()), source: None },
    ];
    block_on(async {
        for packet in &packets {
            left.send(packet.clone()).await.unwrap();
            right.send(packet.clone()).await.unwrap();
        }
        left.close().await.unwrap();
        right.close().await.unwrap();
        for end in [left, right] {
            let got: Vec<_> = end.map(Result::unwrap).collect().await;
            assert_eq!(got, packets);
        }
    });
}

#[test]
fn holds_so_many_packets_and_one() {
    for capacity in [0, 1, 5] {
        let (mut left, mut right) = duplex(capacity);
        let mut count = 0;
        while is_ready(&mut left) {
            send(&mut left, note(&count.to_string(), 0));
            count += 1;
        }
        assert_eq!(count, capacity + 1);

        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        assert!(Pin::new(&mut left).poll_ready(&mut Context::from_waker(&waker)).is_pending());
        assert!(matches!(next(&mut right), Poll::Ready(Some(Ok(text))) if text == note_text("0", 0)));
        assert_eq!(wakes.count(), 1, "a place has become free");
        assert!(is_ready(&mut left));
        // The other direction has places of its own.
        assert!(is_ready(&mut right));
    }
}

#[test]
fn closing_ends_one_direction_after_what_was_sent() {
    let (mut left, mut right) = duplex(4);
    send(&mut left, note("last", 0));
    assert!(close(&mut left).is_ready());
    assert!(matches!(ready(&mut left), Poll::Ready(Err(TransportError::Io(_)))));
    assert_eq!(all(&mut right), [Ok(note_text("last", 0))]);

    assert!(is_ready(&mut right));
    send(&mut right, note("answer", 0));
    assert!(matches!(next(&mut left), Poll::Ready(Some(Ok(text))) if text == note_text("answer", 0)));
    assert!(next(&mut left).is_pending());
}

#[test]
fn dropping_one_end_closes_both_directions() {
    let (mut left, mut right) = duplex(4);
    send(&mut right, note("last", 0));
    drop(right);
    assert_eq!(all(&mut left), [Ok(note_text("last", 0))]);
    assert!(
        matches!(ready(&mut left), Poll::Ready(Err(TransportError::Io(error))) if error.kind() == std::io::ErrorKind::BrokenPipe)
    );
    assert!(Pin::new(&mut left).start_send(note("n", 0).into()).is_err());
    assert!(close(&mut left).is_ready());
}

/// A sender that waits for room must not wait for a receiver that is gone.
#[test]
fn dropping_the_receiver_frees_a_waiting_sender() {
    let (mut left, right) = duplex(0);
    send(&mut left, note("n", 0));
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    assert!(Pin::new(&mut left).poll_ready(&mut Context::from_waker(&waker)).is_pending());
    drop(right);
    assert_eq!(wakes.count(), 1);
    assert!(matches!(ready(&mut left), Poll::Ready(Err(TransportError::Io(_)))));
}
