//! The check of bearer tokens: who sends a request, by RFC 6750.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderMap};

use crate::server::Principal;
use crate::server::admission::denied::Denied;
use crate::server::request::fields::single;

/// Why a request has no principal.
#[derive(Debug)]
pub(crate) enum Unauthorized {
    /// It has no bearer token.
    Missing,
    /// The function does not know its token.
    Invalid,
    /// The function panicked. The panic hook has reported it.
    Panicked,
    /// It has several `Authorization` headers.
    Denied(Denied),
}

impl From<Denied> for Unauthorized {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

type Check = dyn Fn(&str) -> Option<Principal> + Send + Sync;

/// The function of the program that returns the principal of a token.
#[derive(Clone)]
pub(crate) struct BearerCheck(Arc<Check>);

impl BearerCheck {
    pub(crate) fn new(check: impl Fn(&str) -> Option<Principal> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    /// The sender of a request with these headers.
    pub(crate) fn principal(&self, headers: &HeaderMap) -> Result<Principal, Unauthorized> {
        let sent = single(headers, &AUTHORIZATION)?.and_then(|value| std::str::from_utf8(value).ok());
        let Some(token) = sent.and_then(bearer_token) else {
            return Err(Unauthorized::Missing);
        };
        match catch_unwind(AssertUnwindSafe(|| (self.0)(token))) {
            Ok(Some(principal)) => Ok(principal),
            Ok(None) => Err(Unauthorized::Invalid),
            Err(_) => Err(Unauthorized::Panicked),
        }
    }
}

impl fmt::Debug for BearerCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BearerCheck").finish_non_exhaustive()
    }
}

/// The token of a value of `Authorization` whose scheme is `Bearer`, in letters of either case.
fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;
    use crate::server::response::refusal::Refusal;

    fn status(values: &[&str]) -> u16 {
        let check = BearerCheck::new(|token| match token {
            "panic" => panic!("as a test does"),
            token => (token == "right").then(|| Principal::new("ann")),
        });
        let headers =
            values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap()));
        match check.principal(&headers.collect()) {
            Ok(principal) => {
                assert_eq!(principal.as_str(), "ann");
                200
            }
            Err(error) => Refusal::from(error).into_response().status().as_u16(),
        }
    }

    #[test]
    fn only_one_token_that_the_function_knows_is_taken() {
        for (values, expected) in [
            (&["Bearer right"][..], 200),
            (&["bEARER   right"], 200),
            (&[], 401),
            (&[""], 401),
            (&["Bearer"], 401),
            (&["Bearer "], 401),
            (&["Bearerright"], 401),
            (&["right"], 401),
            (&["Basic right"], 401),
            (&["Bearer wrong"], 401),
            (&["Bearer right wrong"], 401),
            (&["Bearer r\u{e4}ght"], 401),
            (&["Bearer right", "Bearer right"], 400),
            (&["Bearer panic"], 500),
        ] {
            assert_eq!(status(values), expected, "{values:?}");
        }
    }

    #[test]
    fn refusal_names_the_bearer_scheme() {
        let check = BearerCheck::new(|_| None);
        for (sent, challenge) in [(None, "Bearer"), (Some("Bearer x"), r#"Bearer error="invalid_token""#)] {
            let headers = sent.map(|sent| (AUTHORIZATION, HeaderValue::from_static(sent)));
            let refused = check.principal(&headers.into_iter().collect()).unwrap_err();
            let refused = Refusal::from(refused).into_response();
            assert_eq!(refused.headers()["www-authenticate"], challenge);
        }
    }
}
