//! Cargo, the programs that it has built, processes, packages of registries, scripts, ports and HTTP, for tests, `xtask` and
//! `bench`.
//!
//! No test starts a build: the programs under test come out of the build of the whole workspace that built the test.

pub mod cargo;
mod dep_info;
pub mod http;
#[cfg(feature = "net")]
pub mod net;
pub mod packages;
mod ports;
pub mod process;
mod programs;
mod scripts;

pub use cargo::cargo;
pub use ports::free_port;
pub use programs::{example, program};
pub use scripts::write_program;
