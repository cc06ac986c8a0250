//! Keys in each of their forms.

use agentwire_mcp_auth_testkit::{AuthServer, Signer, TokenFormat, TokenSpec};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
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

#[test]
fn another_library_signs_with_the_private_keys() {
    let random = ring::rand::SystemRandom::new();
    let der = |key: &Signer| {
        let lines = key.private_pem().lines().filter(|line| !line.starts_with('-'));
        STANDARD.decode(lines.collect::<String>()).unwrap()
    };
    let text = "eyJhbGciOiJFUzI1NiJ9.e30";
    let verifies = |key: &Signer, signature: &[u8], algorithm| {
        let jwk = DecodingKey::from_jwk(&serde_json::from_value(key.jwk()).unwrap()).unwrap();
        let signature = URL_SAFE_NO_PAD.encode(signature);
        jsonwebtoken::crypto::verify(&signature, text.as_bytes(), &jwk, algorithm).unwrap()
    };
    let key = Signer::es256("a");
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der(&key), &random).unwrap();
    let signature = pair.sign(&random, text.as_bytes()).unwrap();
    assert!(verifies(&key, signature.as_ref(), Algorithm::ES256));

    let key = Signer::rs256("a");
    let pair = RsaKeyPair::from_pkcs8(&der(&key)).unwrap();
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature).unwrap();
    assert!(verifies(&key, &signature, Algorithm::RS256));
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
