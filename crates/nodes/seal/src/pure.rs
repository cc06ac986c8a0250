//! The cipher in pure Rust, which needs no C compiler.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::{KeyInit, Tag, XChaCha20Poly1305, XNonce};

use crate::cipher::{KEY, NONCE, SealError, TAG};

/// Encrypts the text in place, and returns its tag.
pub(crate) fn encrypt(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    about: &[u8],
    text: &mut [u8],
) -> Result<[u8; TAG], SealError> {
    let tag = XChaCha20Poly1305::new(&(*key).into())
        .encrypt_inout_detached(&XNonce::from(*nonce), about, InOutBuf::from(text))
        .map_err(|_| SealError("the text is too long"))?;
    Ok(tag.into())
}

/// Decrypts the text in place. `None` if the tag does not match the text and `about`.
pub(crate) fn decrypt(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    about: &[u8],
    tag: &[u8; TAG],
    text: &mut [u8],
) -> Option<()> {
    let (nonce, tag) = (XNonce::from(*nonce), Tag::from(*tag));
    XChaCha20Poly1305::new(&(*key).into())
        .decrypt_inout_detached(&nonce, about, InOutBuf::from(text), &tag)
        .ok()
}
