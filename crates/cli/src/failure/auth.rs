//! Failures of logins, with the option that gets around them.

use std::error::Error;

use agentwire_mcp_auth::client::{AuthError, Remedy};

use super::chain::{causes, chain};
use super::http::connect_phrase;

/// The advice on a server that takes a token from somewhere else.
pub(super) const OWN_TOKEN: &str = "send a token that you have by --header-file or --token";

/// A failure of a login with its causes, and the option that gets around it.
pub(super) fn auth_causes(error: &(dyn Error + 'static)) -> String {
    let unsent = chain(error).find_map(unsent);
    unsent.unwrap_or_else(|| causes(error)) + &advice(error)
}

/// The sentence on a request of a login that could not be sent, if the cause is known.
pub(super) fn unsent(error: &(dyn Error + 'static)) -> Option<String> {
    match error.downcast_ref()? {
        AuthError::Transient { step, cause, .. } => {
            Some(format!("{step} failed: {}", connect_phrase(None, &**cause)?))
        }
        _ => None,
    }
}

/// The advice after a failure of a login. Empty for any other failure.
pub(super) fn advice(error: &(dyn Error + 'static)) -> String {
    let Some(error) = chain(error).find_map(|cause| cause.downcast_ref::<AuthError>()) else {
        return String::new();
    };
    let advice = match error.remedy() {
        Some(Remedy::Client) => {
            "register a client there by hand, and run `agentwire login` with --client-id ID"
        }
        Some(Remedy::AssumePkce) => {
            "if it supports PKCE all the same, run `agentwire login` with --assume-pkce"
        }
        Some(Remedy::Resource) => {
            "`agentwire login` sends another resource with --resource TEXT, and none with --resource ''"
        }
        Some(Remedy::Scopes) => "run `agentwire login` with --scope SCOPE for each scope that it has",
        Some(Remedy::AuthorizationServer) => "run `agentwire login` with --issuer URL to name the right one",
        Some(Remedy::Token) => OWN_TOKEN,
        _ => return String::new(),
    };
    // That error names a login already.
    let joint = if matches!(error, AuthError::NeedsPerson { .. }) { "; or " } else { "; " };
    format!("{joint}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_without_a_remedy_gets_no_advice() {
        assert_eq!(auth_causes(&std::io::Error::other("away")), "away");
    }
}
