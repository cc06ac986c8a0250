//! Parses keys from the text of a file or a variable.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::cipher::KEY;

/// The error of a text that has no valid keys. It shows no part of the text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyTextError {
    /// A line, counted from 1, is not a key.
    #[error("line {0} is not a key: it is neither 64 hexadecimal digits nor base64 of 32 bytes")]
    NoKey(usize),
    /// A line, counted from 1, repeats the key of the line before.
    #[error("line {0} repeats the key of the line before")]
    SameKey(usize),
    /// A line, counted from 1, has a third key.
    #[error("line {0} has a third key: one key seals, and one more opens")]
    TooMany(usize),
    /// A line, counted from 1, has a key that is not random: too many of its bytes are the same, as in a key of zeros.
    #[error("line {0} has a key that anyone may guess; `openssl rand -hex 32` makes one")]
    Guessable(usize),
    /// The text has no key.
    #[error("there is no key")]
    Empty,
}

/// Reads the key that seals and the key that only opens.
pub(crate) fn parse(text: &str) -> Result<([u8; KEY], Option<[u8; KEY]>), KeyTextError> {
    let lines = text.lines().map(str::trim).zip(1..);
    let mut lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let key = |(line, number)| match key(line) {
        Some(key) if is_guessable(&key) => Err(KeyTextError::Guessable(number)),
        key => key.ok_or(KeyTextError::NoKey(number)),
    };
    let sealing = key(lines.next().ok_or(KeyTextError::Empty)?)?;
    let Some(second) = lines.next() else { return Ok((sealing, None)) };
    let opening = key(second)?;
    if opening == sealing {
        return Err(KeyTextError::SameKey(second.1));
    }
    match lines.next() {
        Some((_, number)) => Err(KeyTextError::TooMany(number)),
        None => Ok((sealing, Some(opening))),
    }
}

/// The minimum number of different bytes in a key. A random key has about 30, and fewer than 16 once in 10^14 keys.
const LEAST_DIFFERENT: usize = 16;

fn is_guessable(key: &[u8; KEY]) -> bool {
    let mut bytes = *key;
    bytes.sort_unstable();
    bytes.chunk_by(u8::eq).count() < LEAST_DIFFERENT
}

fn key(line: &str) -> Option<[u8; KEY]> {
    if line.len() == 2 * KEY {
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pairs = line.as_bytes().chunks_exact(2);
        let bytes: Option<Vec<u8>> = pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
        return bytes?.try_into().ok();
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if line.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    GeneralPurpose::new(&alphabet, config).decode(line).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key whose first byte is `first`, in hexadecimal digits.
    fn hex(first: u8) -> String {
        bytes(first).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn bytes(first: u8) -> [u8; KEY] {
        std::array::from_fn(|at| first.wrapping_add(at as u8))
    }

    #[test]
    fn keys_are_read_in_either_form() {
        let base64 = "8PHy8/T19vf4+fr7/P3+/wABAgMEBQYHCAkKCwwNDg8=";
        assert_eq!(parse(&hex(0xf0).to_uppercase()), Ok((bytes(0xf0), None)));
        for text in [base64.to_owned(), base64.replace('=', ""), base64.replace('+', "-").replace('/', "_")] {
            assert_eq!(parse(&format!("\n# old\n  {text} \r\n")), Ok((bytes(0xf0), None)), "{text}");
        }
        assert_eq!(parse(&format!("{}\n{}\n", hex(1), hex(2))), Ok((bytes(1), Some(bytes(2)))));
    }

    #[test]
    fn key_of_few_different_bytes_is_refused() {
        for text in [
            "00".repeat(KEY),
            "deadbeef".repeat(KEY / 4),
            "000102030405060708090a0b0c0d0e0f"[..30].repeat(3)[..64].to_owned(),
        ] {
            assert_eq!(parse(&format!("# a\n{text}")), Err(KeyTextError::Guessable(2)), "{text}");
        }
        assert_eq!(parse(&format!("{}\n{}", hex(1), "00".repeat(KEY))), Err(KeyTextError::Guessable(2)));
    }

    #[test]
    fn errors_name_the_line_and_no_key() {
        let [one, two] = [hex(1), hex(2)];
        let three = format!("{one}\n\n{two}\n{one}");
        let cases = [
            ("\n# nothing\n", KeyTextError::Empty),
            ("#\nsecret", KeyTextError::NoKey(2)),
            (&one[2..], KeyTextError::NoKey(1)),
            (&*"zz".repeat(KEY), KeyTextError::NoKey(1)),
            (&*format!("{one}\n{one}"), KeyTextError::SameKey(2)),
            (&*three, KeyTextError::TooMany(4)),
        ]
        .map(|(text, error)| (text.to_owned(), error));
        for (text, error) in cases {
            let found = parse(&text).unwrap_err();
            assert!(
                !text.lines().any(|line| !line.is_empty() && format!("{found} {found:?}").contains(line))
            );
            assert_eq!(found, error, "{text}");
        }
    }
}
