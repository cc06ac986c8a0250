//! The questions of a function to the client: written once, answered in both eras.

mod rounds;
mod session;
mod single_use;
mod state;
mod subject;
