//! The contract on the stores that come with `agentwire-store`.

mod file;
mod killed;
mod memory;
mod mutants;
