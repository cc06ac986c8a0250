//! Finds the name of this machine, which recordings mask.

/// The name of this machine.
#[cfg(unix)]
pub(super) fn host() -> Option<String> {
    Some(rustix::system::uname().nodename().to_str().ok()?.to_owned())
}

#[cfg(not(unix))]
pub(super) fn host() -> Option<String> {
    None
}
