use std::cell::Cell;
use std::task::Poll;

use agentwire_transport::{duplex, read_when};

use crate::{is_ready, next, note, note_text, send};

#[test]
fn pauses_reading_and_not_writing() {
    let is_open = Cell::new(false);
    let (left, mut right) = duplex(1);
    let mut left = read_when(left, |_| if is_open.get() { Poll::Ready(()) } else { Poll::Pending });
    send(&mut right, note("in", 1));
    assert!(next(&mut left).is_pending());

    assert!(is_ready(&mut left));
    send(&mut left, note("out", 1));
    assert!(matches!(next(&mut right), Poll::Ready(Some(Ok(text))) if text == note_text("out", 1)));

    is_open.set(true);
    assert!(matches!(next(&mut left), Poll::Ready(Some(Ok(text))) if text == note_text("in", 1)));
}
