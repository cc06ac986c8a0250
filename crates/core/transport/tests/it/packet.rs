use agentwire_jsonrpc::{Frame, Message};
use agentwire_transport::{Packet, TransportError};

use crate::note;

#[test]
fn are_text_and_back() {
    for text in [
        r#"{"jsonrpc":"2.0","id":"\u0061","method":"m","params":{"b":1.50}}"#,
        r#"[{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","id":1,"result":null}]"#,
    ] {
        let packet = Packet::from_json(text);
        assert_eq!(packet.clone().into_json().as_deref(), Some(text));
        assert_eq!(Packet::from_json(&packet.clone().into_json().unwrap()), packet);
    }
    assert_eq!(Packet::CallerLeft(1u64.into()).into_json(), None);
}

#[test]
fn text_that_is_no_message_is_a_malformed_frame() {
    let packet = Packet::from_json("no JSON");
    assert!(matches!(&packet, Packet::Frame { frame: Frame::Malformed(_), in_reply_to: None, .. }));
    let answer = Packet::from_json(&packet.into_json().unwrap());
    assert!(matches!(
        answer,
        Packet::Frame { frame: Frame::Single(Message::Response(response)), .. } if response.id.is_null()
    ));
}

#[test]
fn a_message_belongs_to_no_request_unless_it_is_said() {
    assert!(matches!(Packet::from(note("n", 1)), Packet::Frame { in_reply_to: None, .. }));
}

#[test]
fn a_fault_keeps_what_caused_it() {
    #[derive(Debug, thiserror::Error)]
    #[error("the process exited with {0}")]
    struct Exited(i32);

    let error = TransportError::other(Exited(3));
    assert_eq!(error.to_string(), "the process exited with 3");
    assert_eq!(error.inner().downcast_ref::<Exited>().unwrap().0, 3);
}
