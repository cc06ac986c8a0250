//! The documents of OAuth that a client reads. Members that it does not use are ignored.

use serde::{Deserialize, Deserializer, Serialize};

use crate::Secret;

/// A protected resource's metadata: RFC 9728, section 2.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ResourceMetadata {
    pub(crate) resource: Option<String>,
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) dpop_bound_access_tokens_required: bool,
}

/// An authorization server's metadata: RFC 8414, section 2, and OpenID Connect Discovery 1.0.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ServerMetadata {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: Option<String>,
    pub(crate) registration_endpoint: Option<String>,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) scopes_supported: Vec<String>,
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub(crate) dpop_signing_alg_values_supported: Vec<String>,
    pub(crate) authorization_response_iss_parameter_supported: bool,
    pub(crate) client_id_metadata_document_supported: bool,
}

/// The answer to a registration: RFC 7591, section 3.2.1.
#[derive(Deserialize)]
pub(crate) struct RegistrationAnswer {
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<Secret>,
    /// When the secret expires, in seconds since 1970; 0 is never.
    #[serde(default)]
    pub(crate) client_secret_expires_at: u64,
    pub(crate) token_endpoint_auth_method: Option<String>,
    pub(crate) scope: Option<String>,
}

/// A registration request: RFC 7591, section 2.
#[derive(Serialize)]
pub(crate) struct RegistrationRequest<'a> {
    pub(crate) client_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_uri: Option<&'a str>,
    pub(crate) redirect_uris: &'a [String],
    pub(crate) grant_types: [&'static str; 2],
    pub(crate) response_types: [&'static str; 1],
    pub(crate) token_endpoint_auth_method: &'a str,
    pub(crate) application_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<String>,
}

/// The answer of a token endpoint: RFC 6749, section 5.1.
#[derive(Deserialize)]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: Secret,
    pub(crate) token_type: Option<String>,
    /// In seconds.
    #[serde(default, deserialize_with = "seconds")]
    pub(crate) expires_in: Option<u64>,
    pub(crate) refresh_token: Option<Secret>,
    pub(crate) scope: Option<String>,
}

/// An error of OAuth: RFC 6749, section 5.2.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ErrorAnswer {
    pub(crate) error: Option<String>,
    pub(crate) error_description: Option<String>,
}

/// A lifetime, which some servers write as a string. A negative one is over; one that is no number is unknown.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Lifetime {
        Number(f64),
        Text(String),
        Other(serde::de::IgnoredAny),
    }
    let number = match Option::<Lifetime>::deserialize(deserializer)? {
        Some(Lifetime::Number(number)) => Some(number),
        Some(Lifetime::Text(text)) => text.trim().parse().ok(),
        Some(Lifetime::Other(_)) | None => None,
    };
    // A cast of a float saturates: NaN is 0.
    Ok(number.map(|number| number.clamp(0.0, MAX_LIFETIME) as u64))
}

/// Ten years, in seconds: more is as good as for ever, and must not overflow a date.
const MAX_LIFETIME: f64 = 315_360_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_read_in_each_form() {
        let of = |lifetime: &str| {
            let text = format!(r#"{{"access_token":"a","expires_in":{lifetime}}}"#);
            agentwire_jsonrpc::read::<TokenAnswer>(&text).unwrap().expires_in
        };
        assert_eq!(of("3600"), Some(3600));
        assert_eq!(of("3600.5"), Some(3600));
        assert_eq!(of(r#""60""#), Some(60));
        assert_eq!(of("-1"), Some(0));
        assert_eq!(of("1e300"), Some(315_360_000));
        assert_eq!(of("null"), None);
        assert_eq!(of("[1]"), None);
        assert_eq!(of(r#""soon""#), None);
        assert_eq!(
            agentwire_jsonrpc::read::<TokenAnswer>(r#"{"access_token":"a"}"#).unwrap().expires_in,
            None
        );
    }
}
