//! Distinguishes generated texts from words.

use super::secrets::SHORTEST_SOUGHT;

/// The longest part of a text that counts as a word or a number, in bytes.
const LONGEST_WORD: usize = 15;

/// The most digits at the end of a word, and the most of a number such as a date.
const WORD_DIGITS: usize = 4;
const NUMBER_DIGITS: usize = 8;

/// The shortest text that is taken for a generated one behind a name that is a common word, and the shortest without a digit.
const SHORTEST_GENERATED: usize = 8;
const SHORTEST_WITHOUT_DIGIT: usize = 20;

/// Returns whether a text looks more like a secret than like a plain word.
pub(super) fn looks_random(text: &str) -> bool {
    let is_unlike_a_word =
        |(at, byte): (usize, u8)| byte.is_ascii_digit() || at > 0 && byte.is_ascii_uppercase();
    text.len() >= SHORTEST_SOUGHT && (text.len() >= 20 || text.bytes().enumerate().any(is_unlike_a_word))
}

/// Returns whether a text looks generated, unlike a name, path or address that consists of words. This is the stricter
/// test, for places where secrets are rare.
pub(super) fn looks_generated(text: &str) -> bool {
    let is_in_token = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/=.~".contains(&byte);
    let has = |is_wanted: fn(&u8) -> bool| text.as_bytes().iter().any(is_wanted);
    let has_digit = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    text.len() >= SHORTEST_GENERATED
        && (has_digit || is_mixed && text.len() >= SHORTEST_WITHOUT_DIGIT)
        && text.bytes().all(is_in_token)
        && !consists_of_words(text)
}

/// Whether a text is one word of a language in lower case.
pub(super) fn is_plain_word(text: &str) -> bool {
    text.len() <= LONGEST_WORD && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a text has nothing but words and numbers, such as `button-large` and `plan_2024_v2`.
pub(super) fn consists_of_words(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).all(is_word)
}

fn is_word(part: &str) -> bool {
    let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - word.len();
    let rest = word.as_bytes().get(1..).unwrap_or_default();
    let has_one_case =
        rest.iter().all(u8::is_ascii_lowercase) || word.bytes().all(|byte| byte.is_ascii_uppercase());
    let begins_with_letter = word.as_bytes().first().is_none_or(u8::is_ascii_alphabetic);
    part.len() <= LONGEST_WORD
        && begins_with_letter
        && digits <= if word.is_empty() { NUMBER_DIGITS } else { WORD_DIGITS }
        && has_one_case
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinguished_from_generated_texts() {
        for text in [
            "button-primary-large-round",
            "package_dependencies_typescript_eslint",
            "santa_planning_spreadsheet_2024_final_v2",
            "docker.registry.example.internal.host.name",
            "SUCCESS_WITH_INFO_200",
            "arrow-left-key-0001",
            "node-modules-v1",
            "https://example.com/forgot/20241231",
            "oauth2",
        ] {
            assert!(consists_of_words(text) && !looks_generated(text), "{text}");
        }
        for text in [
            "Zq1vX7wPk1LmT3rYb1Hn5",
            "a1b2c3d4",
            "123e4567-e89b-12d3-a456-426614174000",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "abcdefghijklmnop1",
            "QrStUvWxYzAbCdEfGhIj",
        ] {
            assert!(!consists_of_words(text) && looks_generated(text), "{text}");
        }
        for text in ["getToken()", "getToken", "a text 1x2y3z", "https://example.com/a1b2c3"] {
            assert!(!looks_generated(text), "{text}");
        }
    }
}
