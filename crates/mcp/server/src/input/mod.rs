//! Questions to the client: how they are written, and what a modern request carries from round to round.
//!
//! In a session a question is a request. A modern request is answered with the question, and the client makes it again
//! with the answer. A task keeps its question open until a client brings the answer. Each of the three is a [`Questioner`].

mod check;
mod config;
mod elicited;
mod error;
pub mod field;
mod form;
mod format;
mod keys;
mod page;
mod round;
mod single_use;
mod state;

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::{
    ClientCapabilities, CreateMessageRequest, Downgrade, ElicitRequest, InputRequest, ListRootsRequest,
    Revision,
};

pub use config::InputConfig;
pub(crate) use elicited::read as read_elicited;
pub use elicited::{Elicitation, Elicited};
pub use error::AskError;
pub(crate) use error::AskErrorKind;
pub use form::Form;
pub(crate) use keys::QuestionKeys;
pub use page::Page;
pub(crate) use round::InputRound;
pub(crate) use single_use::SingleUse;

/// Something that brings a question to the client and the answer back.
pub(crate) trait Questioner {
    /// Asks under a key that no other question of the call has. Dropping the future withdraws the question.
    async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Response, AskError>;
}

/// A method that the client answers.
pub(crate) trait Question: RequestMethod + Downgrade + Clone + Into<InputRequest> {
    /// The capability of the clients that answer it.
    const CAPABILITY: &'static str;
}

impl Question for ElicitRequest {
    const CAPABILITY: &'static str = "elicitation";
}

impl Question for CreateMessageRequest {
    const CAPABILITY: &'static str = "sampling";
}

impl Question for ListRootsRequest {
    const CAPABILITY: &'static str = "roots";
}

/// The capability that a question needs and the client does not have.
pub(crate) fn lacking<Q: Question>(
    question: &Q,
    revision: Revision,
    can: &ClientCapabilities,
) -> Option<&'static str> {
    // A capability counts only in a revision that has it.
    let mut can = can.clone();
    can.downgrade(revision);
    let can = |capability: &str| can.has(capability);
    question.lacks(&can).or_else(|| (!can(Q::CAPABILITY)).then_some(Q::CAPABILITY))
}
