//! A client against a server that is a script. Tests that bear the id of a requirement, such as LIF-04, check
//! what the specification asks for under it.

mod cache;
mod calls;
mod eras;
mod gaps;
mod handshake;
mod input;
mod layers;
mod lists;
mod marks;
mod mock;
mod modern;
#[cfg(feature = "validate")]
mod output;
mod peers;
mod responses;
mod revisions;
mod sloppy_tasks;
mod spawn;
mod subscriptions;
mod task_extension;
mod tasks;
