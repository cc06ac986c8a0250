//! The contract on the stores of this crate.

#![cfg(all(feature = "contract", feature = "file"))]

mod file;
mod killed;
mod memory;
mod mutants;
