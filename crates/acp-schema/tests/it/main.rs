//! What the wire types read and write.

mod building;
mod leniency;
mod messages;
mod unions;
