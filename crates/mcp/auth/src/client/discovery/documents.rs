//! The documents of OAuth that a client reads. Members that it does not use are ignored. An optional member that is
//! `null` or malformed counts as absent.

use agentwire_jsonrpc::RawJson;
use agentwire_jsonrpc::runtime::read_items;
use agentwire_jsonrpc::wire::default_on_error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Secret;

/// A protected resource's metadata: RFC 9728, section 2.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ResourceMetadata {
    #[serde(default, deserialize_with = "default_on_error")]
    pub(crate) resource: Option<String>,
    #[serde(default, deserialize_with = "words")]
    pub(crate) authorization_servers: Vec<String>,
    #[serde(default, deserialize_with = "optional_words")]
    pub(crate) scopes_supported: Option<Vec<String>>,
    #[serde(default, deserialize_with = "default_on_error")]
    pub(crate) dpop_bound_access_tokens_required: bool,
}

/// An authorization server's metadata: RFC 8414, section 2, and OpenID Connect Discovery 1.0.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ServerMetadata {
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) issuer: String,
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) authorization_endpoint: Option<String>,
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) token_endpoint: Option<String>,
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) registration_endpoint: Option<String>,
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) revocation_endpoint: Option<String>,
    #[serde(deserialize_with = "words")]
    pub(crate) scopes_supported: Vec<String>,
    #[serde(deserialize_with = "optional_words")]
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(deserialize_with = "optional_words")]
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(deserialize_with = "words")]
    pub(crate) dpop_signing_alg_values_supported: Vec<String>,
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) authorization_response_iss_parameter_supported: bool,
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) client_id_metadata_document_supported: bool,
}

/// The answer to a registration: RFC 7591, section 3.2.1.
#[derive(Debug, Deserialize)]
pub(crate) struct RegistrationAnswer {
    pub(crate) client_id: String,
    #[serde(default, deserialize_with = "default_on_error")]
    pub(crate) client_secret: Option<Secret>,
    /// When the secret expires, in seconds since 1970; 0 is never.
    #[serde(default, deserialize_with = "date")]
    pub(crate) client_secret_expires_at: u64,
    #[serde(default, deserialize_with = "default_on_error")]
    pub(crate) token_endpoint_auth_method: Option<String>,
    #[serde(default, deserialize_with = "default_on_error")]
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
#[derive(Debug, Deserialize)]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: Secret,
    #[serde(default, deserialize_with = "default_on_error")]
    pub(crate) token_type: Option<String>,
    /// In seconds.
    #[serde(default, deserialize_with = "seconds")]
    pub(crate) expires_in: Option<u64>,
    #[serde(default, deserialize_with = "default_on_error")]
    pub(crate) refresh_token: Option<Secret>,
    #[serde(default, deserialize_with = "default_on_error")]
    pub(crate) scope: Option<String>,
}

/// An error of OAuth: RFC 6749, section 5.2.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ErrorAnswer {
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) error: Option<String>,
    #[serde(deserialize_with = "default_on_error")]
    pub(crate) error_description: Option<String>,
}

/// A list of words, which some servers write as text with spaces. Items that are not text are left out. Any other value
/// is an empty list.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(optional_words(deserializer)?.unwrap_or_default())
}

/// The same, but `None` for any other value.
fn optional_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let value = RawJson::deserialize(deserializer)?;
    Ok(match value.decode::<String>() {
        Ok(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
        Err(_) => read_items(value.as_str()).ok(),
    })
}

/// A lifetime, which some servers write as a string. A negative one is over; one that is not a number is unknown.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    // A cast of a float saturates: NaN is 0.
    Ok(number(deserializer)?.map(|number| number.clamp(0.0, MAX_LIFETIME) as u64))
}

/// A date in seconds since 1970, in the same forms. One that is not a number is 0, as is one before 1970.
fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(number(deserializer)?.map_or(0, |number| number as u64))
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(f64),
        Text(String),
        Other(serde::de::IgnoredAny),
    }
    Ok(match Option::<Form>::deserialize(deserializer)? {
        Some(Form::Number(number)) => Some(number),
        Some(Form::Text(text)) => text.trim().parse().ok(),
        Some(Form::Other(_)) | None => None,
    })
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

    /// Each document with every optional member set to `null`, or malformed, reads as the document without them.
    #[test]
    fn null_or_malformed_reads_as_an_absent_member() {
        fn read<T: serde::de::DeserializeOwned + std::fmt::Debug>(required: &str, optional: &[&str]) {
            let read = |text: &str| format!("{:?}", agentwire_jsonrpc::read::<T>(text).unwrap());
            let comma = if required.is_empty() { "" } else { "," };
            for wrong in ["null", "{}", r#"{"a":1}"#] {
                let members: Vec<_> = optional.iter().map(|name| format!(r#""{name}":{wrong}"#)).collect();
                let with_wrong = format!("{{{required}{comma}{}}}", members.join(","));
                assert_eq!(read(&with_wrong), read(&format!("{{{required}}}")), "{wrong}");
            }
        }
        let of_resource =
            ["resource", "authorization_servers", "scopes_supported", "dpop_bound_access_tokens_required"];
        read::<ResourceMetadata>("", &of_resource);
        let of_server = [
            "issuer",
            "authorization_endpoint",
            "token_endpoint",
            "registration_endpoint",
            "revocation_endpoint",
            "scopes_supported",
            "code_challenge_methods_supported",
            "token_endpoint_auth_methods_supported",
            "dpop_signing_alg_values_supported",
            "authorization_response_iss_parameter_supported",
            "client_id_metadata_document_supported",
        ];
        read::<ServerMetadata>("", &of_server);
        let of_client = ["client_secret", "client_secret_expires_at", "token_endpoint_auth_method", "scope"];
        read::<RegistrationAnswer>(r#""client_id":"a""#, &of_client);
        read::<TokenAnswer>(r#""access_token":"a""#, &["token_type", "expires_in", "refresh_token", "scope"]);
        read::<ErrorAnswer>("", &["error", "error_description"]);
    }

    #[test]
    fn list_is_read_in_each_form() {
        let of = |list: &str| {
            let text = format!(r#"{{"scopes_supported":{list},"authorization_servers":{list}}}"#);
            let read: ResourceMetadata = agentwire_jsonrpc::read(&text).unwrap();
            assert_eq!(read.authorization_servers, read.scopes_supported.clone().unwrap_or_default());
            read.scopes_supported
        };
        let both = Some(vec!["a".to_owned(), "b".to_owned()]);
        for list in [r#"["a","b"]"#, r#""a b""#, r#"" a  b ""#, r#"[null,"a",5,{},"b"]"#] {
            assert_eq!(of(list), both, "{list}");
        }
        for nothing in ["5", "true", "{}"] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_date_is_read_in_each_form() {
        let of = |date: &str| {
            let text = format!(r#"{{"client_id":"a","client_secret_expires_at":{date}}}"#);
            agentwire_jsonrpc::read::<RegistrationAnswer>(&text).unwrap().client_secret_expires_at
        };
        assert_eq!(of("1790000000"), 1_790_000_000);
        assert_eq!(of("1790000000.5"), 1_790_000_000);
        assert_eq!(of(r#""1790000000""#), 1_790_000_000);
        for never in ["0", "-1", "null", r#""""#, r#""never""#, "false"] {
            assert_eq!(of(never), 0, "{never}");
        }
    }
}
