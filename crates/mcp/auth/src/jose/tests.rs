//! Keys and tokens against the examples of the RFCs, and against another implementation.

use jsonwebtoken::{DecodingKey, EncodingKey, Validation};
use serde_json::{Map, Value, json};

use crate::jose::{Algorithm, Jwk, Jwt, JwtError, KeyError, SigningKey, decode_base64url, encode_base64url};

const EC: &str = include_str!("../../tests/keys/ec.pem");
const EC_SEC1: &str = include_str!("../../tests/keys/ec_sec1.pem");
const P384: &str = include_str!("../../tests/keys/p384.pem");
const P384_SEC1: &str = include_str!("../../tests/keys/p384_sec1.pem");
const ED25519: &str = include_str!("../../tests/keys/ed25519.pem");
const RSA: &str = include_str!("../../tests/keys/rsa.pem");
const RSA_PKCS1: &str = include_str!("../../tests/keys/rsa_pkcs1.pem");
const ENCRYPTED: &str = include_str!("../../tests/keys/encrypted.pem");

fn jwk(value: Value) -> Jwk {
    serde_json::from_value(value).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn pem_of(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Es256 => EC,
        Algorithm::Es384 => P384,
        Algorithm::EdDsa => ED25519,
        _ => RSA,
    }
}

fn token(header: &str, claims: &str, signature: &str) -> String {
    [header, claims, signature].map(encode_base64url).join(".")
}

#[test]
fn signature_of_rfc_7515_appendix_a_3_is_verified() {
    let key = jwk(json!({
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    }));
    let token = "eyJhbGciOiJFUzI1NiJ9.\
                 eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
                 DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let jwt = Jwt::parse(token).unwrap();
    assert_eq!(jwt.unverified_issuer(), Some("joe"));
    let claims = jwt.verify(&key).unwrap();
    assert_eq!((claims.text("iss"), claims.seconds("exp")), (Some("joe"), Ok(Some(1_300_819_380))));
    let changed = Jwt::parse(&token.replace("eyJpc3MiOiJqb2Ui", "eyJpc3MiOiJqb2Yi")).unwrap();
    assert_eq!(changed.verify(&key), Err(JwtError::Signature));
    assert!(!serde_json::to_string(&key).unwrap().contains("jpsQ"), "a private member is not kept");
}

#[test]
fn thumbprints_are_those_of_rfc_7638_and_rfc_8037() {
    let rsa = jwk(json!({
        "kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRX\
        jBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6\
        qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
        "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
    }));
    assert_eq!(rsa.thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    let ed25519 =
        jwk(json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }));
    assert_eq!(ed25519.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn signature_of_rfc_8037_appendix_a_4_is_verified() {
    let key =
        jwk(json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }));
    let signed = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    let signature = decode_base64url(
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
    );
    let signature = signature.unwrap();
    assert_eq!(key.verify(Algorithm::EdDsa, signed, &signature), Ok(()));
    assert_eq!(key.verify(Algorithm::EdDsa, &signed[1..], &signature), Err(JwtError::Signature));
    assert_eq!(key.verify(Algorithm::Es256, signed, &signature), Err(JwtError::Key(Algorithm::Es256)));
}

#[test]
fn another_implementation_verifies_our_signatures() {
    for algorithm in Algorithm::ALL {
        let key = SigningKey::from_pkcs8_pem(pem_of(algorithm), algorithm).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        let signed =
            key.sign_jwt(object(json!({ "typ": "JWT", "kid": "1" })), &object(json!({ "sub": "ann" })));
        let signed = signed.unwrap();
        let theirs: jsonwebtoken::jwk::Jwk =
            serde_json::from_value(serde_json::to_value(key.public_jwk()).unwrap()).unwrap();
        let mut validation = Validation::new(algorithm.as_str().parse().unwrap());
        validation.required_spec_claims.clear();
        let read =
            jsonwebtoken::decode::<Value>(&signed, &DecodingKey::from_jwk(&theirs).unwrap(), &validation);
        let read = read.unwrap();
        assert_eq!((read.claims, read.header.kid.as_deref()), (json!({ "sub": "ann" }), Some("1")));
        assert!(Jwt::parse(&signed).unwrap().verify(&key.public_jwk()).is_ok());
    }
}

#[test]
fn signatures_of_another_implementation_are_verified() {
    for algorithm in Algorithm::ALL {
        let pem = pem_of(algorithm).as_bytes();
        let theirs = match algorithm {
            Algorithm::Es256 | Algorithm::Es384 => EncodingKey::from_ec_pem(pem),
            Algorithm::EdDsa => EncodingKey::from_ed_pem(pem),
            _ => EncodingKey::from_rsa_pem(pem),
        };
        let header = jsonwebtoken::Header::new(algorithm.as_str().parse().unwrap());
        let signed = jsonwebtoken::encode(&header, &json!({ "sub": "ann" }), &theirs.unwrap()).unwrap();
        let public = SigningKey::from_pkcs8_pem(pem_of(algorithm), algorithm).unwrap().public_jwk();
        assert!(Jwt::parse(&signed).unwrap().verify(&public).is_ok(), "{algorithm}");
        let other = SigningKey::generate().unwrap().public_jwk();
        assert!(Jwt::parse(&signed).unwrap().verify(&other).is_err(), "{algorithm}");
    }
}

#[test]
fn a_key_is_stored_and_read_in_each_form() {
    let made = SigningKey::generate().unwrap();
    let read = SigningKey::from_pkcs8(&made.to_pkcs8(), Algorithm::Es256).unwrap();
    assert_eq!(read.public_jwk(), made.public_jwk());
    for (algorithm, older) in
        [(Algorithm::Es256, EC_SEC1), (Algorithm::Es384, P384_SEC1), (Algorithm::Rs256, RSA_PKCS1)]
    {
        let new = SigningKey::from_pkcs8_pem(pem_of(algorithm), algorithm).unwrap();
        let old = SigningKey::from_pkcs8_pem(older, algorithm).unwrap();
        assert_eq!(old.public_jwk(), new.public_jwk());
        let stored = SigningKey::from_pkcs8(&old.to_pkcs8(), algorithm).unwrap();
        assert_eq!(stored.public_jwk(), new.public_jwk());
    }
}

#[test]
fn a_key_of_another_kind_is_refused() {
    for (pem, algorithm) in [
        (EC, Algorithm::Es384),
        (EC, Algorithm::Rs256),
        (EC_SEC1, Algorithm::EdDsa),
        (RSA, Algorithm::Es256),
        (RSA_PKCS1, Algorithm::EdDsa),
        (ED25519, Algorithm::Ps256),
    ] {
        let refused = SigningKey::from_pkcs8_pem(pem, algorithm);
        assert!(matches!(refused, Err(KeyError::Rejected { .. })), "{algorithm}: {refused:?}");
    }
    for text in [
        ENCRYPTED,
        "",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n?\n-----END PRIVATE KEY-----",
    ] {
        assert!(matches!(SigningKey::from_pkcs8_pem(text, Algorithm::Es256), Err(KeyError::Pem { .. })));
    }
}

#[test]
fn private_key_is_never_shown() {
    let key = SigningKey::from_pkcs8_pem(EC, Algorithm::Es256).unwrap();
    let shown = format!("{key:?}");
    assert!(shown.starts_with("SigningKey { algorithm: Es256, public: Jwk"), "{shown}");
    let public = serde_json::to_value(key.public_jwk()).unwrap();
    assert_eq!(
        public.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["alg", "crv", "kty", "use", "x", "y"],
    );
}

#[test]
fn key_is_used_only_for_its_stated_purpose() {
    let public =
        serde_json::to_value(SigningKey::from_pkcs8_pem(RSA, Algorithm::Rs256).unwrap().public_jwk());
    let public = public.unwrap();
    let with = |change: Value| {
        let mut members = object(public.clone());
        members.remove("alg");
        members.remove("use");
        members.extend(object(change));
        jwk(Value::Object(members))
    };
    let any = with(json!({}));
    assert!(
        any.verifies(Algorithm::Rs512) && any.verifies(Algorithm::Ps256) && !any.verifies(Algorithm::Es256)
    );
    assert!(with(json!({ "alg": "RS512" })).verifies(Algorithm::Rs512));
    assert!(!with(json!({ "alg": "RS512" })).verifies(Algorithm::Rs256));
    assert!(!with(json!({ "alg": "RSA-OAEP" })).verifies(Algorithm::Rs256));
    assert!(!with(json!({ "use": "enc" })).verifies(Algorithm::Rs256));
    assert!(!with(json!({ "key_ops": ["encrypt"] })).verifies(Algorithm::Rs256));
    assert!(with(json!({ "key_ops": ["verify"], "x5c": ["?"] })).verifies(Algorithm::Rs256));
    // The sign byte of ASN.1 in front of the modulus.
    let n = decode_base64url(public["n"].as_str().unwrap()).unwrap();
    assert_eq!(
        with(json!({ "n": encode_base64url([&[0], &n[..]].concat()) })).thumbprint(),
        any.thumbprint()
    );
}

#[test]
fn malformed_key_is_refused() {
    let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
    for value in [
        json!({}),
        json!({ "kty": "oct", "k": "AAAA" }),
        json!({ "kty": "EC", "crv": "secp256k1", "x": x, "y": x }),
        json!({ "kty": "EC", "crv": "P-256", "x": x }),
        json!({ "kty": "EC", "crv": "P-256", "x": x, "y": "AA" }),
        json!({ "kty": "EC", "crv": "P-384", "x": x, "y": x }),
        json!({ "kty": "OKP", "crv": "X25519", "x": x }),
        json!({ "kty": "RSA", "n": "AAAA", "e": "AQAB" }),
        json!({ "kty": "RSA", "n": "+/==", "e": "AQAB" }),
        json!({ "kty": 1 }),
        json!([]),
    ] {
        assert!(serde_json::from_value::<Jwk>(value.clone()).is_err(), "{value}");
    }
    // Not on the curve: read, and verifies nothing.
    let odd = jwk(json!({ "kty": "EC", "crv": "P-256", "x": x, "y": x }));
    assert_eq!(odd.verify(Algorithm::Es256, b"x", &[1; 64]), Err(JwtError::Signature));
}

#[test]
fn token_is_read_in_one_form_only() {
    let header = r#"{"alg":"ES256"}"#;
    assert!(Jwt::parse(&token(header, "{}", "x")).is_ok());
    for text in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "a.b".to_owned(),
        format!("{}.x", token(header, "{}", "x")),
        format!("{}=", token(header, "{}", "x")),
        format!(" {}", token(header, "{}", "x")),
        token("[]", "{}", "x"),
        token("{}", "{}", "x"),
        token(r#"{"alg":1}"#, "{}", "x"),
        token(r#"{"alg":"ES256","alg":"ES256"}"#, "{}", "x"),
        token(r#"{"alg":"ES256","jwk":{"kty":"EC","kty":"EC"}}"#, "{}", "x"),
        token(r#"{"alg":"ES256","crit":["b64"],"b64":false}"#, "{}", "x"),
        token(r#"{"alg":"ES256","crit":[]}"#, "{}", "x"),
        token(header, "[]", "x"),
        token(header, r#"{"aud":"a","aud":"b"}"#, "x"),
        token(header, "text", "x"),
    ] {
        assert!(matches!(Jwt::parse(&text), Err(JwtError::Malformed(_))), "{text}");
    }
    for name in ["none", "NONE", "HS256", "HS512", "A128KW"] {
        let refused = Jwt::parse(&token(&format!(r#"{{"alg":"{name}"}}"#), "{}", ""));
        assert_eq!(refused.unwrap_err(), JwtError::Algorithm(name.to_owned()));
    }
    let long = "x".repeat((64 << 10) + 1);
    assert_eq!(Jwt::parse(&long).unwrap_err(), JwtError::TooLong { limit: 64 << 10 });
}

#[test]
fn shared_secret_made_of_the_public_key_is_refused() {
    let public = serde_json::to_vec(&SigningKey::from_pkcs8_pem(RSA, Algorithm::Rs256).unwrap().public_jwk());
    let secret = EncodingKey::from_secret(&public.unwrap());
    let forged =
        jsonwebtoken::encode(&jsonwebtoken::Header::default(), &json!({ "sub": "ann" }), &secret).unwrap();
    assert_eq!(Jwt::parse(&forged).unwrap_err(), JwtError::Algorithm("HS256".to_owned()));
}
