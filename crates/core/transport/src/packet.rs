//! Defines the item that transports carry: a frame, a cancellation, the failure of one request, or a gap. The trait `Transport`
//! is a sink and stream of them.

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
        /// The peer's request that the frame answers or belongs to, if any. A transport with a stream for each request
        /// chooses the stream by it.
        in_reply_to: Option<RequestId>,
        /// How the frame arrived, if the transport knows more than that. None for frames to send.
        source: Option<Arc<dyn MessageSource>>,
    },
    /// The caller of the request with this id has left, and can receive nothing more. Transports with one caller, such as
    /// stdio, ignore it and never produce it.
    CallerLeft(RequestId),
    /// Our request with this id gets no response, because its own stream failed. The transport goes on. A transport with one
    /// stream, such as stdio, ends instead, and never produces it.
    RequestFailed {
        /// The request.
        id: RequestId,
        /// The failure.
        error: Arc<TransportError>,
    },
    /// A break in the messages that the peer sends beside the streams of our requests, on a stream of their own. A transport with
    /// one stream, such as stdio, ends instead, and never produces it.
    Gap {
        /// `None` if such messages may be lost: their stream broke off and could not be resumed. This comes once another stream
        /// is open, or before the end. Otherwise the reason why none of them arrive from now on. The transport goes on, and
        /// the peer may still send messages on the streams of requests.
        end: Option<Arc<TransportError>>,
    },
}

impl Packet {
    /// A frame that belongs to no request in particular.
    pub fn new(frame: impl Into<Frame>) -> Self {
        Self::Frame { frame: frame.into(), in_reply_to: None, source: None }
    }

    /// Reads a text message. Text that is not JSON-RPC becomes a malformed frame.
    pub fn from_json(text: &str) -> Self {
        Self::new(Frame::parse(ByteString::from(text)))
    }

    /// Writes a text message, without a line end. None for a packet that has no text.
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

/// Two failures or ends are equal if they are the same one. How a frame came in does not matter.
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

/// Anything that takes packets and gives packets.
///
/// There is nothing to implement: every fitting [`Sink`] and [`Stream`] is one. The stream ends when the peer
/// has closed its side; an `Err` is the last item before the end. Closing the sink signals the peer that nothing
/// more will come, and completes when whatever the transport holds (a process, a socket) is given back.
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
