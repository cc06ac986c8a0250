//! Makes names that the APIs of language models accept for a tool: 1 to 64 of the characters `a-z`, `A-Z`, `0-9`, `_` and `-`.
//!
//! In any other name `_` replaces each other character; the name is cut and gets a code that depends on the whole name: `a.b`
//! is always `a_b-a5b1b5ae`. A name that already looks like a name with a code gets a code too, so an unchanged name never
//! equals one with a code. Two names have the same code with a probability of 2^-32; then the hub lists only the first tool.

use std::borrow::Cow;

/// The maximum length of a tool's name.
pub(crate) const NAME_LIMIT: usize = 64;

/// The maximum length of a server's name, without the number after it. The rest is room for the tool's name.
pub(crate) const SERVER_LIMIT: usize = 32;

/// The length of a code with the `-` before it.
const CODE_LENGTH: usize = 9;

/// Returns whether models take a name as it is.
pub(crate) fn is_safe(name: &str) -> bool {
    (1..=NAME_LIMIT).contains(&name.len()) && name.chars().all(is_safe_character)
}

/// Returns a name of at most `limit` characters that models take as a part of a tool's name. It depends only on `name`.
pub(crate) fn safe_part(name: &str, limit: usize) -> Cow<'_, str> {
    if is_safe(name) && name.len() <= limit && !has_code(name) {
        return Cow::Borrowed(name);
    }
    let safe = name.chars().map(|c| if is_safe_character(c) { c } else { '_' });
    Cow::Owned(with_code(&safe.take(limit).collect::<String>(), name, limit))
}

/// Returns a name of at most `limit` characters: the beginning of a safe form of `name`, and the code of `name`.
pub(crate) fn with_code(safe: &str, name: &str, limit: usize) -> String {
    let length = safe.len().min(limit.saturating_sub(CODE_LENGTH));
    format!("{}-{:08x}", &safe[..length], code(name))
}

fn is_safe_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

/// Returns whether a name may be one that [`safe_part`] has made of another.
pub(crate) fn looks_mapped(name: &str) -> bool {
    is_safe(name) && has_code(name)
}

fn has_code(name: &str) -> bool {
    let is_code = |code: &str| {
        code.len() + 1 == CODE_LENGTH && code.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
    };
    name.rsplit_once('-').is_some_and(|(_, code)| is_code(code))
}

/// FNV-1a, which is the same in every build, unlike the hash of the standard library.
fn code(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |code, byte| (code ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_models_take_stays_as_it_is() {
        for name in ["a", "get_user-2", "list-projects", &"x".repeat(40)] {
            assert_eq!(safe_part(name, 40), name);
        }
    }

    #[test]
    fn other_name_gets_a_code_of_its_own() {
        let long = "x".repeat(100);
        let names = ["a.b", "a/b", "a b", "größe", "", &long, &long[1..], "a_b-0123abcd"];
        let parts = names.map(|name| safe_part(name, 40).into_owned());
        for part in &parts {
            assert!(is_safe(part) && part.len() <= 40 && has_code(part), "{part}");
        }
        let different: std::collections::HashSet<_> = parts.iter().collect();
        assert_eq!(different.len(), names.len());
        assert!(parts[0].starts_with("a_b-") && parts[3].starts_with("gr__e-"), "{parts:?}");
        // A name that was mapped is mapped again, so no tool can have the name that another one is given.
        assert_ne!(safe_part(&parts[0], 40), parts[0]);
    }
}
