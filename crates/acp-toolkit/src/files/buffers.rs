use std::fmt::Debug;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

/// What an answer of [`Buffers`] comes in.
pub type BufferFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Text that an editor has open and has not saved: an agent is to see what the person sees.
///
/// Both methods are called only for paths within the session's directories, and with the path free of links and of `..`, so
/// that a file has one name whatever the agent calls it. The file need not exist. Nothing else of the file is looked at: a
/// buffer stands in for it.
///
/// ```
/// use std::collections::HashMap;
/// use std::path::{Path, PathBuf};
/// use std::sync::Mutex;
///
/// use agentwire_acp_toolkit::{BufferFuture, Buffers, Workspaces};
///
/// #[derive(Debug, Default)]
/// struct Tabs(Mutex<HashMap<PathBuf, String>>);
///
/// impl Buffers for Tabs {
///     fn text<'a>(&'a self, path: &'a Path) -> BufferFuture<'a, Option<String>> {
///         Box::pin(async move { self.0.lock().expect("nobody panics").get(path).cloned() })
///     }
///
///     fn replace<'a>(&'a self, path: &'a Path, text: &'a str) -> BufferFuture<'a, bool> {
///         Box::pin(async move {
///             let mut tabs = self.0.lock().expect("nobody panics");
///             tabs.get_mut(path).map(|tab| *tab = text.to_owned()).is_some()
///         })
///     }
/// }
///
/// let workspaces = Workspaces::with_buffers(Tabs::default());
/// ```
pub trait Buffers: Debug + Send + Sync {
    /// The text of the buffer with which this file is open. None if it is not open, or has nothing unsaved: then the file
    /// is read.
    fn text<'a>(&'a self, path: &'a Path) -> BufferFuture<'a, Option<String>>;

    /// Makes this the text of the buffer with which the file is open, and says whether there is one. If so the file is not
    /// written to: saving is up to the editor. The default has none.
    fn replace<'a>(&'a self, path: &'a Path, text: &'a str) -> BufferFuture<'a, bool> {
        let _ = (path, text);
        Box::pin(async { false })
    }
}
