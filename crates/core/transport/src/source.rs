//! The trait for what a transport knows about a message's origin: headers, sender, and typed extensions.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt::Debug;

/// How a message came in, as far as its transport can tell: an HTTP request, a socket, …
///
/// Each transport has a type of its own for it, which [`downcast_ref`](#method.downcast_ref) returns. The methods here serve
/// code that depends on no transport.
///
/// ```
/// use std::sync::Arc;
///
/// use agentwire_transport::MessageSource;
///
/// /// A process at the other end of a Unix socket.
/// #[derive(Debug)]
/// struct Process {
///     user: u32,
/// }
///
/// impl MessageSource for Process {}
///
/// let source: Arc<dyn MessageSource> = Arc::new(Process { user: 1000 });
/// assert_eq!(source.downcast_ref::<Process>().map(|process| process.user), Some(1000));
/// ```
pub trait MessageSource: Any + Debug + Send + Sync {
    /// The value of a header that came with the message. The case of the name does not matter. If there are several
    /// of that name, their values are joined by `, `, which is equivalent in HTTP. `None` if there is none, and
    /// from transports that have no headers.
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let _ = name;
        None
    }

    /// The authenticated caller, by a unique name. Data that is kept for a caller is kept for this one alone. `None` if the
    /// message is not authenticated.
    fn principal(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// A name for the sender, the same for all of its messages: the authenticated caller, or else a network address. Limits
    /// for each sender count by it. It proves nothing, and several senders may share it. None if the transport has none.
    fn sender(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// A value of this type that the transport has for the message; see [`extension`](#method.extension). The default has
    /// none.
    fn extension_of(&self, kind: TypeId) -> Option<&dyn Any> {
        let _ = kind;
        None
    }
}

impl dyn MessageSource {
    /// The transport's own type, if it is `T`.
    pub fn downcast_ref<T: MessageSource>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }

    /// A value of type `T` that the transport has derived from the message, so that layers above need not derive it again.
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.extension_of(TypeId::of::<T>())?.downcast_ref()
    }
}
