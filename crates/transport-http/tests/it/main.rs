//! The transport from outside: raw sockets against the server, scripted servers against the client.

#[cfg(all(feature = "reqwest", feature = "hyper"))]
mod both;
#[cfg(feature = "reqwest")]
mod client;
#[cfg(feature = "server")]
mod server;
