//! SHA-256 of what is downloaded.

use std::fmt::Write as _;

/// A digest with its algorithm, as `sha256-` and hexadecimal digits, or as npm writes it: `sha512-` and base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest(String);

impl Digest {
    /// The text with the algorithm in front.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digest that a registry gives for an archive. None if it is not 64 hexadecimal digits.
    pub(crate) fn from_sha256(digits: &str) -> Option<Self> {
        let is_digest = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| Self(format!("sha256-{}", digits.to_ascii_lowercase())))
    }

    /// The digest that npm gives for a package. None if it is too long to be one, or has control characters.
    pub(crate) fn from_integrity(text: &str) -> Option<Self> {
        let is_shown = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        (text.len() <= 256 && is_shown && text.contains('-')).then(|| Self(text.to_owned()))
    }
}

/// Computes SHA-256 of pieces.
pub(crate) struct Sha256(ring::digest::Context);

impl Sha256 {
    pub(crate) fn new() -> Self {
        Self(ring::digest::Context::new(&ring::digest::SHA256))
    }

    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(crate) fn finish(self) -> Digest {
        let mut text = String::from("sha256-");
        for byte in self.0.finish().as_ref() {
            write!(text, "{byte:02x}").expect("a string takes all text");
        }
        Digest(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_pieces_is_that_of_the_whole() {
        let mut pieces = Sha256::new();
        pieces.update(b"a");
        pieces.update(b"bc");
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(pieces.finish(), Digest::from_sha256(&known.to_uppercase()).unwrap());
        assert_eq!(Digest::from_sha256("ba78"), None);
        assert_eq!(Digest::from_integrity("sha512-\x1b[2J"), None, "errors show digests");
        assert_eq!(Digest::from_sha256(&"g".repeat(64)), None);
    }
}
