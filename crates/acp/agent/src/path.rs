//! Checks of paths that hold on every system.

use std::path::Path;

/// Returns whether a path is absolute on this system or another one: client and agent may run on different systems.
pub(crate) fn is_absolute(path: &Path) -> bool {
    match path.as_os_str().as_encoded_bytes() {
        [b'/', ..] | [b'\\', b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => path.is_absolute(),
    }
}

/// Returns whether a path holds a NUL. No system has such paths: a system call with one fails, or uses the part before it.
pub(crate) fn holds_nul(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&0)
}
