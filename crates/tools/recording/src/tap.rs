//! Records the packets of a transport.

use agentwire_jsonrpc::{Frame, RawJson};
use agentwire_transport::{Direction, Packet, Tap, Transport, tap};
use bytestring::ByteString;

use crate::event::{EventKind, Side};
use crate::recorder::Recorder;

/// Records every packet of a transport. `us` is our side. Without a recorder it does nothing.
///
/// Of a line that could not be read, a packet holds only the reason, so only the reason is recorded.
pub fn record_transport<T: Transport>(
    transport: T,
    recorder: Option<Recorder>,
    us: Side,
) -> Tap<T, impl FnMut(Direction, &Packet) + Unpin + Send> {
    tap(transport, move |direction, packet: &Packet| {
        let Some(recorder) = &recorder else { return };
        let from = match (direction, us.is_client()) {
            (Direction::Out, _) => us,
            (Direction::In, true) => Side::Server,
            (Direction::In, false) => Side::Client,
        };
        if let Packet::Frame { frame, .. } = packet {
            record_frame(recorder, None, from, frame, direction);
        }
    })
}

/// Records a frame.
pub fn record_frame(
    recorder: &Recorder,
    exchange: Option<u64>,
    from: Side,
    frame: &Frame,
    direction: Direction,
) {
    let kind = match frame {
        Frame::Malformed(malformed) if direction == Direction::In => {
            EventKind::Unreadable(malformed.error.to_string())
        }
        frame => {
            let mut text = Vec::with_capacity(frame.size_hint());
            frame.write(&mut text);
            let json =
                String::from_utf8(text).ok().and_then(|text| RawJson::parse(ByteString::from(text)).ok());
            match json {
                Some(json) => EventKind::Message(json),
                None => EventKind::Unreadable("the message is not JSON".into()),
            }
        }
    };
    recorder.record_in(exchange, from, kind);
}
