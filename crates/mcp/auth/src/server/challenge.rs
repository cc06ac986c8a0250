//! The response to a refused client: a status, an error code, and in `WWW-Authenticate` the requirements.

use agentwire_jsonrpc::code;
use agentwire_transport_http::server::Denied;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;

use crate::jose::Algorithm;
use crate::server::access_token::credentials::Scheme;
use crate::server::dpop::DpopPolicy;
use crate::server::rejection::{PublicError, Rejection};
use crate::server::scopes::join_scopes;

/// The part that all challenges of a server share.
pub(crate) struct Challenger<'a> {
    pub(crate) metadata_url: &'a str,
    pub(crate) dpop: DpopPolicy,
}

impl Challenger<'_> {
    /// The headers of a refusal, and its body: an error of JSON-RPC. `scopes` are those of the operation, as far as they are
    /// known.
    pub(crate) fn refusal(&self, rejection: &Rejection, scopes: &[String]) -> (StatusCode, HeaderMap, Bytes) {
        let public = rejection.public_error();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if public.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        } else {
            for scheme in self.schemes(&public) {
                headers.append(WWW_AUTHENTICATE, self.challenge(*scheme, &public, scopes));
            }
        }
        let is_ours = public.status.is_server_error();
        let code = if is_ours { code::INTERNAL_ERROR } else { code::INVALID_REQUEST };
        let error = json!({ "code": code, "message": public.description });
        (public.status, headers, json!({ "jsonrpc": "2.0", "error": error }).to_string().into())
    }

    /// The refusal of an operation, for the endpoint.
    pub(crate) fn denied(&self, scheme: Scheme, rejection: &Rejection, scopes: &[String]) -> Denied {
        let public = rejection.public_error();
        let challenge = self.challenge(scheme, &public, scopes);
        Denied::new(public.status, public.description).with_challenge(challenge)
    }

    /// The schemes that the client may use, the better one last: clients that know only `Bearer` read the first.
    fn schemes(&self, public: &PublicError) -> &'static [Scheme] {
        let is_about_proof = matches!(public.error, Some("use_dpop_nonce" | "invalid_dpop_proof"));
        match self.dpop {
            DpopPolicy::Off => &[Scheme::Bearer],
            DpopPolicy::Accept if !is_about_proof => &[Scheme::Bearer, Scheme::Dpop],
            DpopPolicy::Accept | DpopPolicy::Require => &[Scheme::Dpop],
        }
    }

    /// The challenge for one scheme. Every text in it is of the configuration or of this crate, and needs no escapes.
    pub(crate) fn challenge(&self, scheme: Scheme, public: &PublicError, scopes: &[String]) -> HeaderValue {
        let mut members = Vec::new();
        if let Some(error) = public.error {
            members.push(format!("error=\"{error}\""));
            members.push(format!("error_description=\"{}\"", public.description));
        }
        members.push(format!("resource_metadata=\"{}\"", self.metadata_url));
        let scopes = join_scopes(scopes);
        if !scopes.is_empty() {
            members.push(format!("scope=\"{scopes}\""));
        }
        let name = match scheme {
            Scheme::Bearer => "Bearer",
            Scheme::Dpop => {
                members.push(format!("algs=\"{}\"", Algorithm::ALL.map(Algorithm::as_str).join(" ")));
                "DPoP"
            }
        };
        let text = format!("{name} {}", members.join(", "));
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenges(dpop: DpopPolicy, rejection: &Rejection) -> (u16, Vec<String>) {
        let challenger = Challenger { metadata_url: "https://mcp.example/m", dpop };
        let (status, headers, body) = challenger.refusal(rejection, &["a".to_owned(), "b".to_owned()]);
        let body = String::from_utf8_lossy(&body);
        assert!(!body.contains("secret"));
        let code = if status.is_server_error() { "-32603" } else { "-32600" };
        assert!(body.contains(&format!("\"code\":{code}")), "{body}");
        let values = headers.get_all(WWW_AUTHENTICATE).iter();
        (status.as_u16(), values.map(|value| value.to_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn a_challenge_names_the_metadata_and_the_scopes() {
        let of = |rejection| challenges(DpopPolicy::Off, &rejection);
        let rest = r#"resource_metadata="https://mcp.example/m", scope="a b""#;
        assert_eq!(of(Rejection::Missing), (401, vec![format!("Bearer {rest}")]));
        assert_eq!(
            of(Rejection::Key { kid: Some("secret".into()) }),
            (
                401,
                vec![format!(
                    r#"Bearer error="invalid_token", error_description="the access token is not valid", {rest}"#
                )]
            )
        );
        let lacking =
            Rejection::InsufficientScope { needed: vec!["b".into()], granted: vec!["secret".into()] };
        assert_eq!(
            of(lacking),
            (
                403,
                vec![format!(
                    r#"Bearer error="insufficient_scope", error_description="the access token lacks a scope", {rest}"#
                )]
            )
        );
        assert_eq!(of(Rejection::InQuery).0, 400);
        assert_eq!(of(Rejection::unavailable("the key set", "secret")), (503, vec![]));
    }

    #[test]
    fn a_client_learns_which_schemes_there_are() {
        let schemes = |policy, rejection| -> Vec<String> {
            let (_, values) = challenges(policy, &rejection);
            values.iter().map(|value| value.split(' ').next().unwrap().to_owned()).collect()
        };
        assert_eq!(schemes(DpopPolicy::Accept, Rejection::Missing), ["Bearer", "DPoP"]);
        assert_eq!(schemes(DpopPolicy::Accept, Rejection::Nonce), ["DPoP"]);
        assert_eq!(schemes(DpopPolicy::Require, Rejection::Missing), ["DPoP"]);
        let (_, values) = challenges(DpopPolicy::Require, &Rejection::Nonce);
        assert!(
            values[0].starts_with(r#"DPoP error="use_dpop_nonce""#) && values[0].contains(r#"algs="ES256 "#)
        );
    }
}
