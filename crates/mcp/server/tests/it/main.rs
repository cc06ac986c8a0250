//! A server against a peer that writes its messages by hand. Tests that bear the id of a requirement, such as
//! RPC-06, check what the specification asks for under it.

mod base;
mod calls;
mod completions;
mod descriptions;
mod functions;
mod headers;
mod input;
mod layers;
mod lifecycle;
mod lists;
mod modern;
mod observing;
mod probes;
mod raw;
mod registration;
mod results;
mod schemas;
mod subject;
mod subscriptions;
mod tasks;
mod templates;
mod warnings;
mod yielding;
