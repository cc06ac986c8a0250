//! Checks of paths, with the same result on every operating system.

use std::path::Path;

/// Returns whether a path is absolute on this or another operating system: client and agent may run on different
/// systems.
pub(crate) fn is_absolute(path: &Path) -> bool {
    match path.as_os_str().as_encoded_bytes() {
        [b'/', ..] | [b'\\', b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => path.is_absolute(),
    }
}

/// Returns whether a path contains a NUL. No system allows one: a system call fails, or uses only the part before the NUL.
pub(crate) fn holds_nul(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&0)
}
