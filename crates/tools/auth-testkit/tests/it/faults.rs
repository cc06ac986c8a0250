//! Each fault makes a difference that a client can observe, and a server without it does not.

use agentwire_mcp_auth_testkit::{AuthServer, Fault, Signer};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::StreamExt;
use serde_json::{Value, json};

use crate::client::{Client, call, post_json, registration, text};
use crate::raw::{Answer, get, post, send};

#[tokio::test]
async fn each_fault_shows_and_its_absence_does_not() {
    // So many at once that the slow ones wait together, and so few that none is slow because of the others.
    let checks = futures::stream::iter(Fault::ALL.iter().map(|fault| check(*fault))).buffer_unordered(16);
    let failures: Vec<String> = checks.filter_map(std::future::ready).collect().await;
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The error of a fault that does not work.
async fn check(fault: Fault) -> Option<String> {
    let good = AuthServer::builder().issuer_path("/tenant1").start().await.unwrap();
    let bad = AuthServer::builder().issuer_path("/tenant1").misbehave(fault).start().await.unwrap();
    let (without, with) = futures::join!(shows(fault, &good), shows(fault, &bad));
    if without {
        return Some(format!("{fault}: shows without being set"));
    }
    if !with {
        return Some(format!("{fault}: does not show"));
    }
    if bad.hits(fault) == 0 || good.hits(fault) != 0 {
        return Some(format!("{fault}: is counted wrongly"));
    }
    // Once cleared, it is gone.
    bad.clear(fault);
    shows(fault, &bad).await.then(|| format!("{fault}: shows after being cleared"))
}

/// Whether a server shows a fault.
async fn shows(fault: Fault, server: &AuthServer) -> bool {
    if let Some(shown) = shows_in_resource(fault, server).await {
        return shown;
    }
    if let Some(shown) = shows_in_metadata(fault, server).await {
        return shown;
    }
    if let Some(shown) = shows_in_registration(fault, server).await {
        return shown;
    }
    if let Some(shown) = shows_in_authorization(fault, server).await {
        return shown;
    }
    if let Some(shown) = shows_in_token_answer(fault, server).await {
        return shown;
    }
    if let Some(shown) = shows_in_refresh(fault, server).await {
        return shown;
    }
    if let Some(shown) = shows_in_token(fault, server).await {
        return shown;
    }
    shows_elsewhere(fault, server).await.unwrap_or_else(|| panic!("no probe for {fault}"))
}

async fn shows_in_resource(fault: Fault, server: &AuthServer) -> Option<bool> {
    let other = server.other_origin();
    let challenge = async || {
        let answer = call(server, None).await;
        assert_eq!(answer.status, 401);
        answer.header("www-authenticate").map(str::to_owned)
    };
    let challenge_has = async |text: &str| challenge().await.is_some_and(|found| found.contains(text));
    let metadata = async || {
        let path = "/.well-known/oauth-protected-resource/mcp";
        get(&server.resource_url().replace("/mcp", path)).await
    };
    let with_token = async || {
        let token = text(&Client::register(server).await.login().await, "access_token");
        call(server, Some(&token)).await
    };
    Some(match fault {
        Fault::ChallengeMissing => challenge().await.is_none(),
        Fault::ChallengeSeveralSchemes => {
            challenge_has("Basic realm=\"a, Bearer").await && challenge_has("\", Bearer resource_").await
        }
        Fault::ChallengeMetadataLinkLocal => challenge_has("=\"http://169.254.169.254/").await,
        Fault::ChallengeMetadataOtherHost => {
            let url = format!("{other}/.well-known/oauth-protected-resource/mcp");
            let metadata = get(&url).await.json();
            challenge_has(&url).await && metadata["resource"] == format!("{other}/mcp")
        }
        Fault::AlwaysUnauthorized => with_token().await.status == 401,
        Fault::AlwaysForbidden => {
            let answer = with_token().await;
            let challenge = answer.header("www-authenticate").unwrap_or_default();
            answer.status == 403 && challenge.contains("error=\"insufficient_scope\"")
        }
        Fault::ResourceRedirects => {
            let answer = with_token().await;
            answer.status == 307 && answer.header("location") == Some(&format!("{other}/mcp"))
        }
        Fault::ResourceOtherHost => {
            metadata().await.json()["resource"] == "https://resource.attacker.example/mcp"
        }
        Fault::ResourceTrailingSlash => {
            metadata().await.json()["resource"] == format!("{}/", server.resource_url())
        }
        Fault::ResourceMissing => metadata().await.json()["resource"].is_null(),
        Fault::AuthorizationServersMissing => metadata().await.json()["authorization_servers"].is_null(),
        Fault::AuthorizationServersEmpty => metadata().await.json()["authorization_servers"] == json!([]),
        Fault::AuthorizationServersTwo => {
            let servers = metadata().await.json()["authorization_servers"].clone();
            servers[0] == server.issuer() && servers[1] == "https://second.example"
        }
        Fault::AuthorizationServersLinkLocal => {
            metadata().await.json()["authorization_servers"] == json!(["http://169.254.169.254"])
        }
        Fault::ResourceMetadataNotJson => metadata().await.json().is_null(),
        Fault::ResourceMetadataFails => metadata().await.status == 500,
        _ => return None,
    })
}

/// The authorization server's metadata.
async fn metadata(server: &AuthServer) -> Answer {
    let path = "/.well-known/oauth-authorization-server/tenant1";
    get(&server.issuer().replace("/tenant1", path)).await
}

async fn shows_in_metadata(fault: Fault, server: &AuthServer) -> Option<bool> {
    let issuer = server.issuer();
    let member = async |name: &str| metadata(server).await.json()[name].clone();
    let starts =
        async |name: &str, with: &str| member(name).await.as_str().unwrap_or_default().starts_with(with);
    Some(match fault {
        Fault::MetadataIssuerDiffers => member("issuer").await == format!("{issuer}/other"),
        Fault::MetadataIssuerTrailingSlash => member("issuer").await == format!("{issuer}/"),
        Fault::MetadataIssuerOtherHost => starts("issuer", "https://issuer.attacker.example").await,
        Fault::MetadataIssuerMissing => {
            let metadata = metadata(server).await.json();
            metadata.is_object() && metadata["issuer"].is_null()
        }
        Fault::MetadataNotJson => {
            let answer = metadata(server).await;
            answer.status == 200 && answer.json().is_null() && !answer.is_cut
        }
        Fault::MetadataContentType => {
            let answer = metadata(server).await;
            answer.header("content-type") == Some("text/html") && answer.json()["issuer"] == issuer
        }
        Fault::MetadataEndless => {
            let answer = metadata(server).await;
            answer.is_cut && answer.body.len() > 500_000
        }
        Fault::MetadataDrips => {
            let answer = metadata(server).await;
            answer.is_cut && answer.body.len() < 100
        }
        Fault::MetadataRedirectLoop => {
            let location = metadata(server).await.header("location").map(str::to_owned);
            match location {
                Some(url) => get(&url).await.header("location") == Some(&url),
                None => false,
            }
        }
        Fault::MetadataRedirects => {
            let location = metadata(server).await.header("location").map(str::to_owned);
            match location {
                Some(url) => {
                    url.starts_with(&server.other_origin()) && get(&url).await.json()["issuer"] == issuer
                }
                None => false,
            }
        }
        Fault::MetadataFails => metadata(server).await.status == 503,
        Fault::PkceNotAdvertised => member("code_challenge_methods_supported").await.is_null(),
        Fault::PkcePlainOnly => member("code_challenge_methods_supported").await == json!(["plain"]),
        Fault::TokenEndpointScheme => starts("token_endpoint", "ftp://").await,
        Fault::TokenEndpointLinkLocal => starts("token_endpoint", "http://169.254.169.254/").await,
        Fault::JwksUriLinkLocal => starts("jwks_uri", "http://169.254.169.254/").await,
        Fault::AuthorizationEndpointJavascript => starts("authorization_endpoint", "javascript:").await,
        Fault::AuthorizationEndpointFile => starts("authorization_endpoint", "file:").await,
        Fault::AuthorizationEndpointShell => {
            let endpoint = member("authorization_endpoint").await.as_str().unwrap_or_default().to_owned();
            ["$(", "`", "|", ";", "&", "'", "\""].iter().all(|mark| endpoint.contains(mark))
        }
        _ => return None,
    })
}

async fn shows_in_registration(fault: Fault, server: &AuthServer) -> Option<bool> {
    let register = async |method: &str| {
        let mut body = registration();
        body["token_endpoint_auth_method"] = method.into();
        post_json(&server.endpoint("register"), &body).await
    };
    Some(match fault {
        Fault::RegistrationRefused => register("none").await.status == 403,
        Fault::RegistrationFails => register("none").await.status == 503,
        Fault::RegistrationDropsScopes => {
            let answer = register("none").await;
            let mut client = Client::known(server, &text(&answer, "client_id"));
            client.scope = Some("tools:read".into());
            let error = client.authorize().await.location_param("error");
            answer.json()["scope"].is_null() && error.as_deref() == Some("invalid_scope")
        }
        Fault::RegistrationSecretExpires => {
            let answer = register("client_secret_post").await.json();
            let short = answer["client_secret_expires_at"].as_u64().unwrap_or_default() > 0;
            server.advance(std::time::Duration::from_secs(2));
            let id = answer["client_id"].as_str().unwrap_or_default();
            let secret = answer["client_secret"].as_str().unwrap_or_default();
            let form = [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)];
            short && post(&server.endpoint("token"), &form, &[]).await.status == 401
        }
        Fault::RegistrationWithoutClientId => {
            let answer = register("none").await;
            answer.status == 201 && answer.json()["client_id"].is_null()
        }
        _ => return None,
    })
}

async fn shows_in_authorization(fault: Fault, server: &AuthServer) -> Option<bool> {
    let answer = async || Client::register(server).await.authorize().await;
    let param = async |name: &str| answer().await.location_param(name);
    let promised =
        async || metadata(server).await.json()["authorization_response_iss_parameter_supported"] == true;
    let issuer = server.issuer();
    let wrong = Some("https://issuer.attacker.example".to_owned());
    Some(match fault {
        Fault::IssMissing => promised().await && param("iss").await.is_none(),
        Fault::IssWrong => promised().await && param("iss").await == wrong,
        Fault::IssUnexpected => !promised().await && param("iss").await == Some(issuer),
        Fault::IssUnexpectedWrong => !promised().await && param("iss").await == wrong,
        Fault::IssNormalized => param("iss").await == Some(format!("{issuer}/")),
        Fault::StateChanged => param("state").await.as_deref() == Some("state-1x"),
        Fault::StateMissing => param("state").await.is_none(),
        Fault::CodeMissing => {
            let answer = answer().await;
            answer.status == 302
                && answer.location_param("code").is_none()
                && answer.location_param("error").is_none()
        }
        Fault::AccessDenied => param("error").await.as_deref() == Some("access_denied"),
        _ => return None,
    })
}

async fn shows_in_token_answer(fault: Fault, server: &AuthServer) -> Option<bool> {
    let mut client = Client::register(server).await;
    let login = async || client.login().await;
    let member = async |name: &str| {
        let answer = client.login().await.json();
        assert!(answer.is_object());
        answer[name].clone()
    };
    Some(match fault {
        Fault::CodeRefused => text(&login().await, "error") == "invalid_grant",
        Fault::CodeReplayAccepted => {
            let code = client.code().await;
            client.exchange(&code).await.status == 200 && client.exchange(&code).await.status == 200
        }
        Fault::VerifierUnchecked => {
            client.verifier = "another".into();
            client.login().await.status == 200
        }
        Fault::ResourceParameterRefused => {
            let refused = client.authorize().await.location_param("error");
            client.resource = None;
            refused.as_deref() == Some("invalid_target") && client.login().await.status == 200
        }
        Fault::ClientForgotten => {
            let answer = login().await;
            (answer.status, text(&answer, "error")) == (401, "invalid_client".into())
        }
        Fault::TokenNotJson => {
            let answer = login().await;
            answer.status == 200 && answer.json().is_null() && !answer.is_cut
        }
        Fault::TokenEndless => {
            let answer = login().await;
            answer.is_cut && answer.body.len() > 500_000
        }
        Fault::TokenRedirects => {
            let answer = login().await;
            let location = answer.header("location").unwrap_or_default();
            answer.status == 307 && location == format!("{}/tenant1/token", server.other_origin())
        }
        Fault::TokenErrorsWith200 => {
            let answer = client.exchange("unknown").await;
            answer.status == 200 && text(&answer, "error") == "invalid_grant"
        }
        Fault::ErrorTextHostile => {
            let answer = client.exchange("unknown").await;
            answer.status == 400 && text(&answer, "error_description").contains('\u{1b}')
        }
        Fault::AccessTokenMissing => member("access_token").await.is_null(),
        Fault::TokenTypeMissing => member("token_type").await.is_null(),
        Fault::TokenTypeUnknown => member("token_type").await == "mac",
        Fault::ExpiresInString => member("expires_in").await == "3600",
        Fault::ExpiresInNegative => member("expires_in").await == -1,
        Fault::ExpiresInMissing => member("expires_in").await.is_null(),
        Fault::ExpiresInHuge => member("expires_in").await.as_f64() > Some(1e20),
        Fault::ScopeNarrowed => {
            client.scope = Some("tools:read tools:write".into());
            text(&client.login().await, "scope") == "tools:read"
        }
        Fault::RefreshTokenNeverIssued => member("refresh_token").await.is_null(),
        _ => return None,
    })
}

async fn shows_in_refresh(fault: Fault, server: &AuthServer) -> Option<bool> {
    let client = Client::register(server).await;
    let token = text(&client.login().await, "refresh_token");
    let first = async || client.refresh(&token).await;
    // A closed connection has no status.
    let works_later = async || {
        server.clear(fault);
        let works = client.refresh(&token).await.status == 200;
        if server.hits(fault) > 0 {
            server.set(fault);
        }
        works
    };
    let shown = match fault {
        Fault::RefreshNotRotated => text(&first().await, "refresh_token") == token,
        Fault::RefreshTokenOmitted => {
            first().await.json()["refresh_token"].is_null() && client.refresh(&token).await.status == 200
        }
        Fault::RefreshReuseAccepted => first().await.status == 200 && first().await.status == 200,
        Fault::RefreshRefused => text(&first().await, "error") == "invalid_grant",
        Fault::RefreshFails => first().await.status == 500,
        Fault::RefreshUnavailable => {
            let answer = first().await;
            answer.status == 503 && answer.header("retry-after") == Some("1")
        }
        Fault::RefreshConnectionClosed => first().await.status == 0 && works_later().await,
        Fault::RefreshAnswerLost => {
            first().await.status == 0 && !works_later().await && server.reused_refresh_tokens() == 1
        }
        _ => return None,
    };
    Some(shown)
}

/// A part of a JWT.
pub(crate) fn part(token: &str, index: usize) -> Value {
    let part = token.split('.').nth(index).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    part.and_then(|part| serde_json::from_slice(&part).ok()).unwrap_or_default()
}

/// Whether the key set verifies a token, and the key of its `kid` is there.
async fn verifies(server: &AuthServer, token: &str) -> bool {
    let keys = get(&server.endpoint("jwks")).await.json();
    let key = keys["keys"].as_array().and_then(|keys| {
        keys.iter().find(|key| key["kid"] == part(token, 0)["kid"] && key["alg"].is_string()).cloned()
    });
    let key = key.and_then(|key| serde_json::from_value::<jsonwebtoken::jwk::Jwk>(key).ok());
    let key = key.and_then(|key| jsonwebtoken::DecodingKey::from_jwk(&key).ok());
    let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::ES256);
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    key.is_some_and(|key| jsonwebtoken::decode::<Value>(token, &key, &validation).is_ok())
}

/// Whether the public key's PEM verifies a token as if it were a secret.
fn verifies_by_secret(server: &AuthServer, token: &str) -> bool {
    let secret = jsonwebtoken::DecodingKey::from_secret(server.signer().public_pem().as_bytes());
    let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::HS256);
    validation.validate_aud = false;
    jsonwebtoken::decode::<Value>(token, &secret, &validation).is_ok()
}

async fn shows_in_token(fault: Fault, server: &AuthServer) -> Option<bool> {
    let client = Client::register(server).await;
    let token = text(&client.login().await, "access_token");
    let (header, claims) = (part(&token, 0), part(&token, 1));
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let time = |name: &str| claims[name].as_u64();
    let shown = match fault {
        Fault::TokenAlgNone => header["alg"] == "none" && token.ends_with('.'),
        Fault::TokenHmacWithPublicKey => header["alg"] == "HS256" && verifies_by_secret(server, &token),
        Fault::TokenSignatureWrong => header["alg"] == "ES256" && !verifies(server, &token).await,
        Fault::TokenEmbeddedKey => header["jwk"].is_object() && !verifies(server, &token).await,
        Fault::TokenKeyIdPath => header["kid"] == "../../../../dev/null",
        Fault::TokenAudienceWrong => claims["aud"] == "https://other.example/mcp",
        Fault::TokenAudienceMissing => claims["aud"].is_null(),
        Fault::TokenIssuerWrong => claims["iss"] == "https://issuer.attacker.example",
        Fault::TokenExpired => time("exp") < Some(now),
        Fault::TokenExpiryMissing => claims["exp"].is_null(),
        Fault::TokenNotYetValid => time("nbf") > Some(now + 600),
        Fault::TokenTypOfIdToken => header["typ"] == "JWT",
        Fault::JwksWithoutKey => !verifies(server, &token).await,
        _ => return None,
    };
    // What is not broken is right.
    assert!(fault == Fault::TokenTypOfIdToken || header["typ"] == "at+jwt");
    assert!(fault == Fault::TokenIssuerWrong || claims["iss"] == server.issuer());
    Some(shown)
}

async fn shows_elsewhere(fault: Fault, server: &AuthServer) -> Option<bool> {
    let jwks = async || get(&server.endpoint("jwks")).await;
    let introspect = async |token: &str| post(&server.endpoint("introspect"), &[("token", token)], &[]).await;
    let mut client = Client::register(server).await;
    Some(match fault {
        Fault::JwksOddKey => {
            let keys = jwks().await.json()["keys"].clone();
            keys[0]["kty"] == "ZZ" && keys[1]["kty"] == "EC"
        }
        Fault::JwksFails => jwks().await.status == 503,
        Fault::JwksNotJson => {
            let answer = jwks().await;
            answer.json().is_null() && !answer.is_cut
        }
        Fault::JwksEndless => jwks().await.is_cut,
        Fault::JwksRedirects => {
            let answer = jwks().await;
            match answer.header("location") {
                Some(url) => {
                    url.starts_with(&server.other_origin()) && get(url).await.json() == server.jwks()
                }
                None => false,
            }
        }
        Fault::DpopNonceAlways => {
            client.proof_key = Some(Signer::es256("proof"));
            let code = client.code().await;
            let (first, second) = (client.exchange(&code).await, client.exchange(&code).await);
            text(&second, "error") == "use_dpop_nonce"
                && first.header("dpop-nonce").is_some()
                && first.header("dpop-nonce") != second.header("dpop-nonce")
        }
        Fault::DpopIgnored => {
            client.proof_key = Some(Signer::es256("proof"));
            text(&client.login().await, "token_type") == "Bearer"
        }
        Fault::IntrospectionSlow => introspect("unknown").await.is_cut,
        Fault::IntrospectionFails => introspect("unknown").await.status == 503,
        Fault::IntrospectionAlwaysActive => introspect("unknown").await.json()["active"] == true,
        Fault::RevocationFails => {
            let form = [("token", "x"), ("client_id", client.id.as_str())];
            post(&server.endpoint("revoke"), &form, &[]).await.status == 503
        }
        _ => return None,
    })
}

#[tokio::test]
async fn a_fault_can_be_set_for_once() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set_times(Fault::AlwaysUnauthorized, 1);
    let token = text(&Client::register(&server).await.login().await, "access_token");
    assert_eq!(call(&server, Some(&token)).await.status, 401);
    assert_eq!(call(&server, Some(&token)).await.status, 200);
    server.set(Fault::AlwaysForbidden);
    server.set(Fault::ChallengeMissing);
    server.clear_all();
    assert_eq!(call(&server, Some(&token)).await.status, 200);
    assert_eq!(send("GET", &server.resource_url(), &[], "").await.status, 401);
}
