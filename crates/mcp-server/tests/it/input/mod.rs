//! What a function asks of the client: written once, answered in both eras.

mod rounds;
mod session;
mod state;
mod subject;
