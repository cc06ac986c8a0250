//! Why a request is not served: precise for the operator, coarse for the client.

use agentwire_jsonrpc::Printable;
use http::StatusCode;

use crate::jose::JwtError;

/// How much of a value from a token is shown, in characters.
const SHOWN: usize = 200;
/// How much of the reason why a token cannot be checked is shown, in characters. A document that is not what was expected may
/// stand there.
const SHOWN_OF_REASONS: usize = 1000;

/// Why a request is refused. It goes to [`ResourceServer::on_rejection`](crate::server::ResourceServer::on_rejection); the
/// client gets a status and an error code only. Its text names issuers, audiences and scopes, and never the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// There is no token in `Authorization`, or one of another scheme.
    #[error("the request has no token")]
    Missing,
    /// There are two headers `Authorization` or `DPoP`, which two readers could read differently.
    #[error("the header {header} is repeated")]
    #[non_exhaustive]
    Repeated {
        /// The name of the header.
        header: &'static str,
    },
    /// The query has a parameter `access_token`. Queries stand in logs.
    #[error("the token is in the query, which logs keep")]
    InQuery,
    /// The token is longer than [`ResourceServer::token_limit`](crate::server::ResourceServer::token_limit).
    #[error("the token is longer than the limit of {limit} bytes")]
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The token cannot be read.
    #[error("the token cannot be read: {why}")]
    #[non_exhaustive]
    Malformed {
        /// The fault.
        why: String,
    },
    /// The token is signed with something that is not accepted, such as `none` or a shared secret.
    #[error("the token is signed with `{}`, which is not accepted", Printable::one_line(.name))]
    #[non_exhaustive]
    Algorithm {
        /// The name in the token.
        name: String,
    },
    /// The issuer is none of those that are trusted.
    #[error("the issuer {} is not trusted", quoted(.found.as_deref()))]
    #[non_exhaustive]
    Issuer {
        /// The name in the token, if it has one.
        found: Option<String>,
    },
    /// The token is for something else, such as an ID token.
    #[error("the token is of the type {}, which is not an access token", quoted(.found.as_deref()))]
    #[non_exhaustive]
    Type {
        /// The member `typ` of its header.
        found: Option<String>,
    },
    /// The issuer has no key of that id for that algorithm.
    #[error("the issuer has no key {} for the token", quoted(.kid.as_deref()))]
    #[non_exhaustive]
    Key {
        /// The id that the token names, if it names one.
        kid: Option<String>,
    },
    /// The signature is not the key's.
    #[error("the signature of the token is wrong")]
    Signature,
    /// A claim is missing, or is not what it should be.
    #[error("the claim `{claim}` of the token is missing or invalid")]
    #[non_exhaustive]
    Claim {
        /// The name of the claim.
        claim: &'static str,
    },
    /// The token has expired.
    #[error("the token expired at {at} (seconds since 1970)")]
    #[non_exhaustive]
    Expired {
        /// When, in seconds since 1970.
        at: u64,
    },
    /// The token is not valid yet.
    #[error("the token is valid from {from} on (seconds since 1970)")]
    #[non_exhaustive]
    NotYetValid {
        /// From when on, in seconds since 1970.
        from: u64,
    },
    /// The token is for another resource.
    #[error("the token is for {}, and not for this server", quoted(Some(&.found.join(" "))))]
    #[non_exhaustive]
    Audience {
        /// The audience of the token.
        found: Vec<String>,
    },
    /// The authorization server does not know the token, or no longer.
    #[error("the authorization server reports that the token is not active")]
    Inactive,
    /// The token is bound to a key, and the request does not prove that its sender has that key.
    #[error("the token is bound to a key that the request does not prove to have")]
    Bound,
    /// The request brings a proof, and the token is not bound to a key; or every token has to be.
    #[error("the token is not bound to a key")]
    Unbound,
    /// The proof of possession is not valid.
    #[error("the proof of possession is not valid: {why}")]
    #[non_exhaustive]
    Proof {
        /// The fault.
        why: &'static str,
    },
    /// The proof of possession has no nonce of this server, or an old one. The client gets a new one.
    #[error("the proof of possession has no current nonce")]
    Nonce,
    /// The token does not have the scopes of the operation.
    #[error(
        "the scopes {} are needed, and the token has {}",
        quoted(Some(&.needed.join(" "))),
        quoted(Some(&.granted.join(" ")))
    )]
    #[non_exhaustive]
    InsufficientScope {
        /// All scopes of the operation.
        needed: Vec<String>,
        /// The scopes of the token.
        granted: Vec<String>,
    },
    /// The token cannot be checked at the moment.
    #[error("{what} cannot be used: {}", Printable::one_line(.why))]
    #[non_exhaustive]
    Unavailable {
        /// The missing part, such as `the key set`.
        what: &'static str,
        /// Why it is not there.
        why: String,
    },
    /// A refusal of your own check.
    #[error("{}", Printable::one_line(.why))]
    #[non_exhaustive]
    Other {
        /// Why.
        why: String,
    },
}

/// The part that the client learns.
pub(crate) struct PublicError {
    pub(crate) status: StatusCode,
    /// The error code of RFC 6750 or RFC 9449. `None` if there was no token.
    pub(crate) error: Option<&'static str>,
    pub(crate) description: &'static str,
}

impl Rejection {
    /// The refusal of a check of your own, with the reason for the operator.
    pub fn other(why: impl Into<String>) -> Self {
        Self::Other { why: why.into() }
    }

    /// The token cannot be checked at the moment: the client gets 503 and keeps its token.
    pub fn unavailable(what: &'static str, why: impl ToString) -> Self {
        Self::Unavailable { what, why: why.to_string().chars().take(SHOWN_OF_REASONS).collect() }
    }

    pub(crate) fn malformed(why: impl Into<String>) -> Self {
        Self::Malformed { why: why.into() }
    }

    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        self.public_error().status
    }

    pub(crate) fn public_error(&self) -> PublicError {
        let of = |status, error, description| PublicError { status, error, description };
        let (bad, unauthorized) = (StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED);
        match self {
            Self::Missing => of(unauthorized, None, "an access token is needed"),
            Self::Repeated { .. } => of(bad, Some("invalid_request"), "a header is repeated"),
            Self::InQuery => {
                of(bad, Some("invalid_request"), "an access token is sent in the Authorization header only")
            }
            Self::Expired { .. } => of(unauthorized, Some("invalid_token"), "the access token has expired"),
            Self::Audience { .. } => {
                of(unauthorized, Some("invalid_token"), "the access token is not for this server")
            }
            Self::Bound | Self::Unbound => of(
                unauthorized,
                Some("invalid_token"),
                "the access token is not bound to the key of the proof",
            ),
            Self::Proof { .. } => of(unauthorized, Some("invalid_dpop_proof"), "the DPoP proof is not valid"),
            Self::Nonce => {
                of(unauthorized, Some("use_dpop_nonce"), "the DPoP proof needs the nonce of this server")
            }
            Self::InsufficientScope { .. } => {
                of(StatusCode::FORBIDDEN, Some("insufficient_scope"), "the access token lacks a scope")
            }
            Self::Unavailable { .. } => {
                of(StatusCode::SERVICE_UNAVAILABLE, None, "the access token cannot be checked at the moment")
            }
            _ => of(unauthorized, Some("invalid_token"), "the access token is not valid"),
        }
    }
}

impl From<JwtError> for Rejection {
    fn from(error: JwtError) -> Self {
        match error {
            JwtError::TooLong { limit } => Self::TooLong { limit },
            JwtError::Malformed(why) => Self::malformed(why),
            JwtError::Algorithm(name) => Self::Algorithm { name },
            JwtError::Key(_) => Self::Key { kid: None },
            JwtError::Signature => Self::Signature,
        }
    }
}

/// The beginning of a value from a token.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "of no name".to_owned(), |text| format!("`{}`", Printable::one_line(&short(text))))
}
