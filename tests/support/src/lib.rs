//! Cargo, the programs that it has built, scripts and ports, for tests and `xtask`.
//!
//! No test starts a build: the programs under test come out of the build of the whole workspace that built the test.

mod cargo;
mod dep_info;
mod ports;
mod programs;
mod scripts;

pub use cargo::cargo;
pub use ports::free_port;
pub use programs::{example, program};
pub use scripts::write_program;
