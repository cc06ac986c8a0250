//! The inner layers of the [stack](crate::stack), which the requests about tasks need too: sending one
//! request, and repeating it if its answer requires that.

pub(crate) mod input;
pub(crate) mod lookup;
mod recovery;
pub(crate) mod send;
pub(crate) mod stamp;
pub(crate) mod validation;
