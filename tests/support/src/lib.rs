//! Cargo, the programs that it has built and ports for them, for tests and `xtask`.
//!
//! No test starts a build: the programs under test come out of the build of the whole workspace that built the test.

mod cargo;
mod dep_info;
mod ports;
mod programs;

pub use cargo::cargo;
pub use ports::free_port;
pub use programs::{example, program};
