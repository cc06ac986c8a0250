//! Private keys in PEM, as PKCS #8, and the older forms wrapped into it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::jose::{Algorithm, KeyError};

/// The labels of private keys.
const PKCS8: &str = "PRIVATE KEY";
const SEC1: &str = "EC PRIVATE KEY";
const PKCS1: &str = "RSA PRIVATE KEY";

/// The longest text with a key: 64 KiB.
const MAX_LEN: usize = 64 << 10;

/// The object identifiers of the kinds of keys, with their parameters, in DER.
const EC_P256: &[u8] = &[
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
    0x01, 0x07,
];
const EC_P384: &[u8] =
    &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22];
const RSA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/// The first private key in a text, as PKCS #8 in DER.
pub(crate) fn pkcs8_of(text: &str, algorithm: Algorithm) -> Result<Vec<u8>, KeyError> {
    if text.len() > MAX_LEN {
        return Err(KeyError::Pem { why: "it is longer than 64 KiB" });
    }
    for label in [PKCS8, SEC1, PKCS1] {
        let Some(key) = block(text, label)? else { continue };
        return match (label, algorithm) {
            (PKCS8, _) => Ok(key),
            (SEC1, Algorithm::Es256) => Ok(wrapped(EC_P256, &key)),
            (SEC1, Algorithm::Es384) => Ok(wrapped(EC_P384, &key)),
            (PKCS1, Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa) | (SEC1, _) => {
                Err(KeyError::rejected(algorithm, "it is of another kind"))
            }
            _ => Ok(wrapped(RSA, &key)),
        };
    }
    if text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return Err(KeyError::Pem { why: "it is encrypted" });
    }
    Err(KeyError::Pem { why: "it has no block `BEGIN PRIVATE KEY`" })
}

/// The bytes of the block with that label, if there is one.
fn block(text: &str, label: &str) -> Result<Option<Vec<u8>>, KeyError> {
    let Some((_, rest)) = text.split_once(&format!("-----BEGIN {label}-----")) else { return Ok(None) };
    let Some((body, _)) = rest.split_once(&format!("-----END {label}-----")) else {
        return Err(KeyError::Pem { why: "the block has no end" });
    };
    if body.contains(':') {
        return Err(KeyError::Pem { why: "it is encrypted" });
    }
    let digits: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(digits).map(Some).map_err(|_| KeyError::Pem { why: "the block is not in base64" })
}

/// `PrivateKeyInfo` of PKCS #8: version 0, the kind of key, and the key.
fn wrapped(kind: &[u8], key: &[u8]) -> Vec<u8> {
    let content = [&[0x02, 0x01, 0x00], &*der(0x30, kind), &*der(0x04, key)].concat();
    der(0x30, &content)
}

/// A value of DER with its tag and its length.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let length = length.iter().position(|byte| *byte != 0).map_or(&[0][..], |first| &length[first..]);
    let mut value = vec![tag];
    if content.len() >= 0x80 {
        value.push(0x80 | length.len() as u8);
    }
    value.extend_from_slice(length);
    value.extend_from_slice(content);
    value
}
