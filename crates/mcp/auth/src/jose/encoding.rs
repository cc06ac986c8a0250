//! Base64url without padding, hashes and random texts.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use crate::jose::KeyError;

/// Encodes bytes, without padding.
pub(crate) fn encode_base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a text. `None` for padding, other characters and trailing bits that are not zero, so that each value has one text.
pub(crate) fn decode_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// The SHA-256 of bytes, encoded: 43 characters.
pub(crate) fn sha256_base64url(bytes: &[u8]) -> String {
    encode_base64url(digest(&SHA256, bytes))
}

/// Random bytes of the operating system, encoded.
pub(crate) fn random_base64url(bytes: usize) -> Result<String, KeyError> {
    let mut random = vec![0; bytes];
    SystemRandom::new().fill(&mut random).map_err(|_| KeyError::Random)?;
    Ok(encode_base64url(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_one_text() {
        assert_eq!(decode_base64url("-_8").as_deref(), Some(&[0xfb, 0xff][..]));
        for text in ["-_8=", "+/8", "-_9", "-_8 ", "-", "-_8\n"] {
            assert_eq!(decode_base64url(text), None, "{text:?}");
        }
        assert_eq!(random_base64url(32).unwrap().len(), 43);
        assert_ne!(random_base64url(32).unwrap(), random_base64url(32).unwrap());
    }

    #[test]
    fn hash_is_that_of_rfc_7636_appendix_b() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(sha256_base64url(verifier.as_bytes()), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
