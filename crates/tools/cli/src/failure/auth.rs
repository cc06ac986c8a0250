//! Describes failures of logins, with the options that help.

use std::error::Error;
use std::time::UNIX_EPOCH;

use agentwire_acp_sessions::Timestamp;
use agentwire_jsonrpc::Printable;
use agentwire_mcp_auth::client::{AuthError, Remedy};

use super::chain::{TEXT_LIMIT, causes, chain};
use super::http::connect_phrase;
use crate::output::local_time::local_time;
use crate::output::text::beginning;

/// The advice for a server whose tokens come from elsewhere.
pub(super) const OWN_TOKEN: &str = "send a token that you have by --header-file or --token";

/// A failure of a login with its causes, and the option that helps.
pub(super) fn auth_causes(error: &(dyn Error + 'static)) -> String {
    let phrase = chain(error).find_map(|error| unsent(error).or_else(|| refused_token(error)));
    phrase.unwrap_or_else(|| causes(error)) + &advice(error)
}

/// The sentence for a login's request that could not be sent, if the cause is known.
pub(super) fn unsent(error: &(dyn Error + 'static)) -> Option<String> {
    match error.downcast_ref()? {
        AuthError::Transient { step, cause, .. } => {
            Some(format!("{step} failed: {}", connect_phrase(None, &**cause)?))
        }
        _ => None,
    }
}

/// The sentence on a server that refuses a token which has not expired.
fn refused_token(error: &(dyn Error + 'static)) -> Option<String> {
    let AuthError::NeedsPerson { server, refused: Some(issued), .. } = error.downcast_ref()? else {
        return None;
    };
    let millis = issued.duration_since(UNIX_EPOCH).ok()?.as_millis().try_into().ok()?;
    let time = local_time(&Timestamp::from_millis(millis).to_string());
    Some(format!(
        "{}: the server refuses the token of the login of {time}",
        beginning(Printable::one_line(server), TEXT_LIMIT)
    ))
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
        // RFC 9728, section 3.3: metadata of another resource is not used, whatever is sent.
        Some(Remedy::Resource) if matches!(error, AuthError::Misconfigured(_)) => {
            "if it is the right one, run `agentwire login` with --resource TEXT to name it"
        }
        Some(Remedy::Resource) => {
            "`agentwire login` sends another resource with --resource TEXT, and none with --resource ''"
        }
        Some(Remedy::Scopes) => "run `agentwire login` with --scope SCOPE for each scope that it has",
        Some(Remedy::AuthorizationServer) => "run `agentwire login` with --issuer URL to name the right one",
        Some(Remedy::Token) => OWN_TOKEN,
        Some(Remedy::OtherToken) => {
            let other = "run `agentwire login` with --resource TEXT or --scope SCOPE for another token";
            return format!("; {other}, or {OWN_TOKEN}");
        }
        _ => return String::new(),
    };
    // The text of this error names `agentwire login` already.
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
