//! `UriTemplateError`: why a text is not a supported URI template.

use thiserror::Error;

/// Why a text is not a URI template, or not a supported one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum UriTemplateError {
    /// A brace has no partner. The text begins there.
    #[error("a brace has no partner: `{0}`")]
    Brace(String),
    /// The operator is unknown.
    #[error("`{0}` is not an operator of RFC 6570")]
    Operator(char),
    /// Something between braces is not the name of a variable.
    #[error("`{0}` is not the name of a variable")]
    Name(String),
    /// A modifier of level 4.
    #[error("the modifier of `{0}` is not supported")]
    Modifier(String),
}
