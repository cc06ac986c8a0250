use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt::Debug;

/// How a message came in, as far as its transport can tell: an HTTP request, a socket, …
///
/// Every transport has a type of its own for it, which says what there is to know, and to which
/// [`downcast_ref`](#method.downcast_ref) leads. What whoever knows no transport asks for is a method here.
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
    /// of that name, their values are joined by `, `, which in HTTP means the same. None where there is none, and
    /// from transports that have no headers.
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let _ = name;
        None
    }

    /// A name for whoever sent the message, the same for all of its messages: a caller that authentication names, or
    /// else a network address. Limits for each sender count by it. It proves nothing, and several may share it. None
    /// where the transport knows none.
    fn sender(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// What else the transport knows of the message, by its type; see [`extension`](#method.extension). The default knows
    /// nothing.
    fn extension_of(&self, kind: TypeId) -> Option<&dyn Any> {
        let _ = kind;
        None
    }
}

impl dyn MessageSource {
    /// What the transport says of it, if it is a transport that says this.
    pub fn downcast_ref<T: MessageSource>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }

    /// A value of that type that the transport has found out about the message, for layers above that would otherwise find it
    /// out again.
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.extension_of(TypeId::of::<T>())?.downcast_ref()
    }
}
