//! The name of this system in the registry.

use std::env::consts::{ARCH, OS};

/// This system as the registry names it, such as `linux-x86_64` or `darwin-aarch64`.
pub fn platform() -> String {
    let os = if OS == "macos" { "darwin" } else { OS };
    format!("{os}-{ARCH}")
}
