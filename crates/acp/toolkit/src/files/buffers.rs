//! The interface to an editor's unsaved text.

use std::fmt::Debug;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

/// The future of a method of [`Buffers`].
pub type BufferFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The unsaved text of files that are open in an editor. With it an agent reads the text that the user sees.
///
/// Both methods get only paths within the session's directories, without links and `..`, so each file has one path. The
/// file need not exist, and is not opened: the buffer replaces it.
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
///         Box::pin(async move { self.0.lock().expect("no holder panics").get(path).cloned() })
///     }
///
///     fn replace<'a>(&'a self, path: &'a Path, text: &'a str) -> BufferFuture<'a, bool> {
///         Box::pin(async move {
///             let mut tabs = self.0.lock().expect("no holder panics");
///             tabs.get_mut(path).map(|tab| *tab = text.to_owned()).is_some()
///         })
///     }
/// }
///
/// let workspaces = Workspaces::with_buffers(Tabs::default());
/// ```
pub trait Buffers: Debug + Send + Sync {
    /// Returns the text of the file's buffer. With `None`, for a file that is not open or has no unsaved changes, the file
    /// is read.
    fn text<'a>(&'a self, path: &'a Path) -> BufferFuture<'a, Option<String>>;

    /// Replaces the text of the file's buffer. Returns whether the file has a buffer; if so the file is not written, and the
    /// editor saves it. The default returns false.
    fn replace<'a>(&'a self, path: &'a Path, text: &'a str) -> BufferFuture<'a, bool> {
        let _ = (path, text);
        Box::pin(async { false })
    }
}
