//! Tests of the crate from outside.

<<<<<<< HEAD
mod client;
=======
#[cfg(feature = "client")]
mod login;
#[cfg(feature = "client")]
>>>>>>> store
mod store;
