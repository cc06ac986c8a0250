//! Defines the item that transports carry: a frame, a caller that has left, the failure of one request, or a gap. The trait
//! `Transport` is a sink and stream of them.

use std::sync::Arc;

use agentwire_jsonrpc::{Frame, Message, RequestId};
use bytestring::ByteString;
use futures::{Sink, Stream};

use crate::{MessageSource, TransportError};

/// One item that a transport moves: a frame, or a report on a request or a stream.
///
/// ```
/// use agentwire_jsonrpc::{Frame, Message};
/// use agentwire_transport::Packet;
///
/// let packet = Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
/// let Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } = packet else { panic!() };
/// assert_eq!(&*request.method, "ping");
/// // Text that is not JSON-RPC is a frame too, so that it can be answered.
/// assert!(matches!(Packet::from_json("hello"), Packet::Frame { frame: Frame::Malformed(_), .. }));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Packet {
    /// A frame of JSON-RPC.
    Frame {
        /// A message, a batch, or malformed text.
        frame: Frame,
        /// The request of the peer that the frame answers or belongs to, if any. A transport with a stream for each request
        /// uses it to choose the stream.
        in_reply_to: Option<RequestId>,
        /// The source of a received frame, if the transport has one. `None` for frames to send.
        source: Option<Arc<dyn MessageSource>>,
    },
    /// The caller of the request with this id has left, so no message about it can be delivered. Transports with one caller,
    /// such as stdio, ignore it and never produce it.
    CallerLeft(RequestId),
    /// Our request with this id gets no response, because its own stream failed. The transport goes on. A transport with one
    /// stream, such as stdio, ends instead, and never produces it.
    RequestFailed {
        /// The request.
        id: RequestId,
        /// The failure.
        error: Arc<TransportError>,
    },
    /// A gap in the messages that the peer sends on a stream of their own, outside the streams of our requests. A transport
    /// with one stream, such as stdio, ends instead, and never produces it.
    Gap {
        /// `None` if messages may be lost: their stream broke off and could not be resumed. The packet then comes once another
        /// stream is open, or before the transport ends. Otherwise the reason why no further message arrives outside the
        /// streams of requests. The transport goes on, and the peer may still send messages on those.
        end: Option<Arc<TransportError>>,
    },
}

impl Packet {
    /// A frame that belongs to no request.
    pub fn new(frame: impl Into<Frame>) -> Self {
        Self::Frame { frame: frame.into(), in_reply_to: None, source: None }
    }

    /// Reads a text message. Text that is not JSON-RPC becomes a malformed frame.
    pub fn from_json(text: &str) -> Self {
        Self::new(Frame::parse(ByteString::from(text)))
    }

    /// Writes a frame as text, without a line end. `None` for any other packet.
    pub fn into_json(self) -> Option<String> {
        match self {
            Self::Frame { frame, .. } => {
                let mut text = Vec::with_capacity(frame.size_hint());
                frame.write(&mut text);
                Some(String::from_utf8(text).expect("frames are written as UTF-8"))
            }
            Self::CallerLeft(_) | Self::RequestFailed { .. } | Self::Gap { .. } => None,
        }
    }
}

/// Two errors are equal if they are the same `Arc`. The source of a frame is not compared.
impl PartialEq for Packet {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Frame { frame, in_reply_to, .. },
                Self::Frame { frame: other, in_reply_to: other_request, .. },
            ) => frame == other && in_reply_to == other_request,
            (Self::CallerLeft(id), Self::CallerLeft(other)) => id == other,
            (Self::RequestFailed { id, error }, Self::RequestFailed { id: other, error: other_error }) => {
                id == other && Arc::ptr_eq(error, other_error)
            }
            (Self::Gap { end }, Self::Gap { end: other }) => {
                end.as_ref().map(Arc::as_ptr) == other.as_ref().map(Arc::as_ptr)
            }
            _ => false,
        }
    }
}

impl From<Message> for Packet {
    fn from(message: Message) -> Self {
        Self::new(message)
    }
}

/// A sink and a stream of packets.
///
/// The trait has no methods: every type that is such a [`Sink`] and [`Stream`] implements it. The stream ends when the peer has
/// closed its side; an `Err` is its last item. Closing the sink signals the end of output to the peer, and completes when the
/// transport has released its resources, such as a process or a socket.
///
/// [`bridge`](crate::bridge) joins two transports.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a transport",
    note = "a transport is `Sink<Packet, Error = TransportError> + Stream<Item = Result<Packet, TransportError>> + Unpin`"
)]
pub trait Transport:
    Sink<Packet, Error = TransportError> + Stream<Item = Result<Packet, TransportError>> + Unpin
{
}

impl<T> Transport for T where
    T: Sink<Packet, Error = TransportError> + Stream<Item = Result<Packet, TransportError>> + Unpin
{
}
