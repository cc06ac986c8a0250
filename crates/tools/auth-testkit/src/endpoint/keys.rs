//! The key set (RFC 7517).

use http::StatusCode;
use serde_json::json;

use crate::body;
use crate::context::Context;
use crate::fault::Fault;
use crate::log::{RecordedRequest, Site};
use crate::reply::Reply;
use crate::tokens::signer::Signer;

pub(crate) fn reply(context: &Context, request: &RecordedRequest) -> Reply {
    let mut keys = context.public_keys();
    if request.site == Site::OtherOrigin {
        return Reply::ok(&json!({ "keys": keys }));
    }
    let faults = [
        Fault::JwksFails,
        Fault::JwksNotJson,
        Fault::JwksEndless,
        Fault::JwksRedirects,
        Fault::JwksWithoutKey,
        Fault::JwksOddKey,
    ];
    match context.faults.first(&faults) {
        Some(Fault::JwksFails) => return Reply::unavailable(),
        Some(Fault::JwksNotJson) => return Reply::page(),
        Some(Fault::JwksEndless) => {
            return Reply::new(StatusCode::OK, "application/json", body::endless());
        }
        Some(Fault::JwksRedirects) => {
            let url = format!("{}{}", context.urls.other, request.path);
            return Reply::redirect(StatusCode::FOUND, &url);
        }
        Some(Fault::JwksWithoutKey) => keys = vec![Signer::es256("another").jwk()],
        Some(_) => keys.insert(0, json!({"kty": "ZZ", "kid": "odd", "alg": 7, "q": [1, 2]})),
        None => {}
    }
    Reply::ok(&json!({ "keys": keys }))
}
