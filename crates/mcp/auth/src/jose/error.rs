//! The faults of a key or a token.

use agentwire_jsonrpc::Printable;

use crate::jose::Algorithm;

/// A private key that cannot be used. The text never shows the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not a PEM block of a private key.
    #[error("it is not a private key in PEM: {why}")]
    #[non_exhaustive]
    Pem {
        /// The fault.
        why: &'static str,
    },
    /// The key is damaged, or does not belong to the algorithm.
    #[error("the key does not fit the algorithm {algorithm}: {why}")]
    #[non_exhaustive]
    Rejected {
        /// The algorithm that the key was to sign with.
        algorithm: Algorithm,
        /// The fault.
        why: String,
    },
    /// The operating system returned no random bytes.
    #[error("the operating system has no randomness")]
    Random,
}

impl KeyError {
    pub(crate) fn rejected(algorithm: Algorithm, why: impl ToString) -> Self {
        Self::Rejected { algorithm, why: why.to_string() }
    }
}

/// A token that is not accepted. The text never shows the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JwtError {
    #[error("the token is longer than the limit of {limit} bytes")]
    TooLong { limit: usize },
    #[error("the token is not a JWT: {0}")]
    Malformed(&'static str),
    #[error("the token is signed with `{}`, which is not accepted", Printable::display(.0))]
    Algorithm(String),
    #[error("the key is not for signatures with {0}")]
    Key(Algorithm),
    #[error("the signature is not the key's")]
    Signature,
}
