//! The parts of the [stack](crate::stack) that requests about tasks need too: validation, sending one request, and repeating
//! it if its answer requires that.

pub(crate) mod input;
pub(crate) mod lookup;
mod recovery;
pub(crate) mod send;
pub(crate) mod stamp;
pub(crate) mod validation;
