//! What a function asks of the client: written once, answered in both eras.

#[cfg(feature = "rounds")]
mod rounds;
mod session;
#[cfg(feature = "rounds")]
mod state;
mod subject;
