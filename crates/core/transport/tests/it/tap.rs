use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_transport::{Direction, Packet, TransportError, duplex, tap};
use futures::{Sink, Stream};

use crate::{all, close, flush, is_ready, next, note, note_text, ready, send, text};

#[test]
fn sees_both_directions_and_changes_nothing() {
    let seen = RefCell::new(Vec::new());
    let (left, mut right) = duplex(1);
    let mut left = tap(left, |direction, packet: &Packet| {
        seen.borrow_mut().push((direction, text(packet.clone())));
    });
    assert!(is_ready(&mut left));
    send(&mut left, note("out", 1));
    send(&mut left, Packet::CallerLeft(1u64.into()));
    // Back-pressure passes through.
    assert!(!is_ready(&mut left));
    assert!(matches!(next(&mut right), Poll::Ready(Some(Ok(text))) if text == note_text("out", 1)));
    assert!(next(&mut left).is_pending());
    send(&mut right, note("in", 1));
    assert!(matches!(next(&mut left), Poll::Ready(Some(Ok(text))) if text == note_text("in", 1)));
    assert!(flush(&mut left).is_ready());
    assert!(close(&mut left).is_ready());
    assert_eq!(all(&mut right), [Ok("abandon".to_owned())]);
    drop(right);
    assert!(matches!(next(&mut left), Poll::Ready(None)));

    let expected = [
        (Direction::Out, note_text("out", 1)),
        (Direction::Out, "abandon".to_owned()),
        (Direction::In, note_text("in", 1)),
    ];
    assert_eq!(*seen.borrow(), expected);
}

/// Fails, whatever it is asked for.
struct Broken;

fn error() -> TransportError {
    io::Error::from(io::ErrorKind::TimedOut).into()
}

impl Stream for Broken {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(Some(Err(error())))
    }
}

impl Sink<Packet> for Broken {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Err(error()))
    }

    fn start_send(self: Pin<&mut Self>, _packet: Packet) -> Result<(), TransportError> {
        Err(error())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Err(error()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Err(error()))
    }
}

#[test]
fn lets_faults_pass() {
    let mut broken = tap(Broken, |direction, _: &Packet| assert_eq!(direction, Direction::Out));
    assert!(matches!(next(&mut broken), Poll::Ready(Some(Err(TransportError::Io(_))))));
    assert!(matches!(ready(&mut broken), Poll::Ready(Err(TransportError::Io(_)))));
    assert!(Pin::new(&mut broken).start_send(note("n", 0).into()).is_err());
    assert!(matches!(flush(&mut broken), Poll::Ready(Err(TransportError::Io(_)))));
    assert!(matches!(close(&mut broken), Poll::Ready(Err(TransportError::Io(_)))));
}
