//! The trait for a message's origin as its transport reports it: headers, sender, and typed extensions.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt::Debug;

/// The origin of a message, such as an HTTP request or a socket.
///
/// Each transport has its own type, which [`downcast_ref`](#method.downcast_ref) returns. The methods here are for code that
/// does not depend on a transport.
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
    /// The value of a header of the message. The case of the name does not matter. The values of several headers with that
    /// name are joined by `, `, which is equivalent in HTTP. `None` if there is no such header, or the transport has no headers.
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let _ = name;
        None
    }

    /// The unique name of the authenticated caller, to which sessions and other stored data are bound. `None` if the message
    /// is not authenticated.
    fn principal(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// A name for the sender, the same for all of its messages: the authenticated caller, or else a network address. Limits
    /// per sender count by it. It proves no identity, and several senders may share it. `None` if the transport has no name.
    fn sender(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// A value of this type that the transport has for the message; see [`extension`](#method.extension). The default returns
    /// `None`.
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
