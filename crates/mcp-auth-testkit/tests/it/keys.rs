//! Keys in each of their forms.

use agentwire_mcp_auth_testkit::{AuthServer, Signer, TokenFormat, TokenSpec};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Value, json};

fn check(token: &str, key: &DecodingKey, algorithm: Algorithm) -> Option<Value> {
    let mut validation = Validation::new(algorithm);
    validation.validate_aud = false;
    jsonwebtoken::decode::<Value>(token, key, &validation).ok().map(|data| data.claims)
}

#[test]
fn a_signature_is_verified_by_the_key_as_jwk_and_as_pem() {
    let claims = json!({"sub": "s", "exp": 32503680000u64});
    for (key, other, algorithm) in [
        (Signer::es256("a"), Signer::es256("a"), Algorithm::ES256),
        (Signer::rs256("a"), Signer::rs256("a"), Algorithm::RS256),
    ] {
        assert_eq!(key.algorithm(), format!("{algorithm:?}"));
        let pem = |key: &Signer| match algorithm {
            Algorithm::RS256 => DecodingKey::from_rsa_pem(key.public_pem().as_bytes()).unwrap(),
            _ => DecodingKey::from_ec_pem(key.public_pem().as_bytes()).unwrap(),
        };
        let jwk = DecodingKey::from_jwk(&serde_json::from_value(key.jwk()).unwrap()).unwrap();
        let token = key.sign(json!({"typ": "x"}), &claims);
        assert_eq!(check(&token, &jwk, algorithm), Some(claims.clone()));
        assert_eq!(check(&token, &pem(&key), algorithm), Some(claims.clone()));
        assert_eq!(check(&token, &pem(&other), algorithm), None);
        assert!(key.jwk()["d"].is_null() && key.private_pem().starts_with("-----BEGIN PRIVATE KEY-----\n"));
        assert!(!format!("{key:?}").contains(&key.private_pem()[40..60]));
        assert_eq!(key.thumbprint().len(), 43);
    }
}

#[tokio::test]
async fn a_token_is_verified_by_the_key_set() {
    for (format, algorithm) in
        [(TokenFormat::Es256, Algorithm::ES256), (TokenFormat::Rs256, Algorithm::RS256)]
    {
        let server = AuthServer::builder().issuer_path("/t").token_format(format).start().await.unwrap();
        let token = server.mint(TokenSpec::new("a b"));
        let key = server.jwks()["keys"][0].clone();
        let key = DecodingKey::from_jwk(&serde_json::from_value(key).unwrap()).unwrap();
        let claims = check(&token, &key, algorithm).unwrap();
        for (name, value) in [
            ("iss", server.issuer()),
            ("aud", server.resource_url()),
            ("sub", "user-1".into()),
            ("client_id", "minted".into()),
            ("scope", "a b".into()),
        ] {
            assert_eq!(claims[name], value);
        }
    }
}
