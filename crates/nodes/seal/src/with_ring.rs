//! The cipher by `ring`, for programs that use `ring` for TLS anyway. It saves fourteen crates.
//!
//! `ring` has ChaCha20-Poly1305, but not XChaCha20-Poly1305. draft-irtf-cfrg-xchacha builds the second on the first: HChaCha20
//! derives a key from the given key and the first 16 bytes of the nonce, and the other 8 bytes are the nonce under that key.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::cipher::{KEY, NONCE, SealError, TAG};

/// Encrypts the text in place, and returns its tag.
pub(crate) fn encrypt(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    about: &[u8],
    text: &mut [u8],
) -> Result<[u8; TAG], SealError> {
    let unsealed = |_| SealError("the text is too long");
    let (key, nonce) = derived(key, nonce).map_err(unsealed)?;
    let tag = key.seal_in_place_separate_tag(nonce, Aad::from(about), text).map_err(unsealed)?;
    tag.as_ref().try_into().map_err(|_| SealError("its tag has another length"))
}

/// Decrypts the text in place. `None` if the tag does not match the text and `about`.
pub(crate) fn decrypt(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    about: &[u8],
    tag: &[u8; TAG],
    text: &mut [u8],
) -> Option<()> {
    let (key, nonce) = derived(key, nonce).ok()?;
    key.open_in_place_separate_tag(nonce, Aad::from(about), (*tag).into(), text, 0..).ok().map(drop)
}

/// Derives the key and the nonce of ChaCha20-Poly1305 from those of XChaCha20-Poly1305.
fn derived(key: &[u8; KEY], nonce: &[u8; NONCE]) -> Result<(LessSafeKey, Nonce), ring::error::Unspecified> {
    let mut short = [0; 12];
    short[4..].copy_from_slice(&nonce[16..]);
    let key = UnboundKey::new(&CHACHA20_POLY1305, &hchacha20(key, nonce))?;
    Ok((LessSafeKey::new(key), Nonce::assume_unique_for_key(short)))
}

/// HChaCha20: the rounds of ChaCha20 over the key and the first 16 bytes of the nonce, without the last addition.
///
/// It runs in constant time: it has no branch and no index that depends on the key.
fn hchacha20(key: &[u8; KEY], nonce: &[u8; NONCE]) -> [u8; KEY] {
    let mut state = [0; 16];
    let bytes = b"expand 32-byte k".iter().chain(key).chain(&nonce[..16]).copied().collect::<Vec<u8>>();
    for (word, bytes) in state.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = bytes.iter().rev().fold(0, |word: u32, byte| word << 8 | u32::from(*byte));
    }
    for _ in 0..10 {
        for column in 0..4 {
            quarter(&mut state, [column, column + 4, column + 8, column + 12]);
        }
        for row in 0..4 {
            quarter(&mut state, [row, 4 + (row + 1) % 4, 8 + (row + 2) % 4, 12 + (row + 3) % 4]);
        }
    }
    let mut derived = [0; KEY];
    let words = state[..4].iter().chain(&state[12..]);
    for (bytes, word) in derived.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    derived
}

/// The quarter round of ChaCha20, RFC 8439, section 2.1.
fn quarter(state: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    for (added, changed, by, turn) in [(b, d, a, 16), (d, b, c, 12), (b, d, a, 8), (d, b, c, 7)] {
        state[by] = state[by].wrapping_add(state[added]);
        state[changed] = (state[changed] ^ state[by]).rotate_left(turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of draft-irtf-cfrg-xchacha-03, section 2.2.1.
    #[test]
    fn key_is_derived_as_in_the_draft() {
        let key = std::array::from_fn(|place| place as u8);
        let mut nonce = [0; NONCE];
        nonce[..16].copy_from_slice(&[0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0, 0x31, 0x41, 0x59, 0x27]);
        let derived = hchacha20(&key, &nonce);
        let text: String = derived.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(text, "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc");
    }
}
