//! Splits a command into words as POSIX `sh` does.

/// Characters that separate commands, or may have a meaning to a shell outside of quotes.
pub(super) const SPECIAL: &str = ";&|<>(){}[]$`\\!*?#~^\r\n";

/// The characters of [`SPECIAL`] that have a meaning in some positions only. To `cmd.exe`, `^` is an escape everywhere.
const SPECIAL_IN_PLACES: &str = if cfg!(windows) { "!#~{}" } else { "!#~{}^" };

/// Characters that have a meaning to a shell within double quotes. `!` has one in some places.
const SPECIAL_IN_QUOTES: &str = "$`\\";

/// A part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glyph {
    Character(char),
    /// `*` outside of quotes.
    Any,
}

/// Splits a simple command into words without quotes. `None` for a text with operators, expansions, escapes or line ends.
pub(super) fn simple_command(text: &str) -> Option<Vec<String>> {
    let word = |word: Vec<Glyph>| {
        let characters = word.into_iter().map(|glyph| match glyph {
            Glyph::Character(character) => character,
            Glyph::Any => '*',
        });
        characters.collect()
    };
    Some(read_words(text, false)?.into_iter().map(word).collect())
}

/// Splits a simple command as [`simple_command`] does. With `takes_any`, `*` outside of quotes is [`Glyph::Any`].
pub(super) fn read_words(text: &str, takes_any: bool) -> Option<Vec<Vec<Glyph>>> {
    let (mut words, mut word) = (Vec::new(), None::<Vec<Glyph>>);
    // Whether the word has a `{` outside of quotes, and an alternative after it.
    let (mut has_brace, mut has_alternative) = (false, false);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let next = characters.clone().next();
        match character {
            ' ' | '\t' => {
                words.extend(word.take());
                (has_brace, has_alternative) = (false, false);
            }
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    let inside = characters.next()?;
                    if inside == character {
                        break;
                    }
                    let is_special = SPECIAL_IN_QUOTES.contains(inside)
                        || inside == '!' && is_history(characters.clone().next(), true);
                    if is_special && character == '"' {
                        return None;
                    }
                    word.push(Glyph::Character(inside));
                }
            }
            '*' if takes_any => word.get_or_insert_default().push(Glyph::Any),
            other => {
                let last = word.as_deref().and_then(<[Glyph]>::last);
                if is_special(other, last.copied(), next, words.is_empty()) {
                    return None;
                }
                if has_alternative && other == '}' {
                    return None;
                }
                let is_range = (last, other) == (Some(&Glyph::Character('.')), '.');
                has_alternative |= has_brace && (is_range || other == ',');
                has_brace |= other == '{';
                word.get_or_insert_default().push(Glyph::Character(other));
            }
        }
    }
    words.extend(word);
    Some(words)
}

/// Returns whether an unquoted character has a meaning to a shell. `last` precedes it in its word.
fn is_special(character: char, last: Option<Glyph>, next: Option<char>, is_first_word: bool) -> bool {
    let is_begin = last.is_none();
    if !SPECIAL_IN_PLACES.contains(character) {
        return character.is_control() || SPECIAL.contains(character);
    }
    match character {
        // After `=` and `:` it means a home folder in assignments.
        '~' => is_begin || matches!(last, Some(Glyph::Character('=' | ':'))),
        '#' => is_begin,
        '{' | '}' => is_begin && is_first_word,
        '!' => is_begin && is_first_word || is_history(next, false),
        _ => false,
    }
}

/// Returns whether `!` before this character is history expansion of an interactive shell.
fn is_history(next: Option<char>, is_in_quotes: bool) -> bool {
    match next {
        None | Some(' ' | '\t' | '\r' | '\n' | '=') => false,
        Some('"') => !is_in_quotes,
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_make_one_word() {
        let read = |text| simple_command(text).map(|words| words.join("|"));
        assert_eq!(read("git  commit\t-m 'a; b' \"c d\"e").as_deref(), Some("git|commit|-m|a; b|c de"));
        assert_eq!(read("a '' b").as_deref(), Some("a||b"));
        assert_eq!(read("").as_deref(), Some(""));
        assert_eq!(read("git diff HEAD~1 stash@{0}").as_deref(), Some("git|diff|HEAD~1|stash@{0}"));
        for text in [
            "git status; rm x",
            "git status & rm x",
            "git status | sh",
            "git status\nrm x",
            "git status > x",
            "git $(rm x)",
            "git `rm x`",
            "git \"$(rm x)\"",
            "git \"`rm x`\"",
            "git $X",
            "git \\\nstatus",
            "git {a,b}",
            "git x{a,'b'}",
            "git {a},b}",
            "git {1..3}",
            "git ~",
            "git a=~/x",
            "git #x",
            "git !x",
            "git \"!x\"",
            "git \"!!\"",
            "! git status",
            "{ git status",
            "git *",
            "git 'unclosed",
            "git \u{7f}",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn character_is_special_only_in_its_positions() {
        for text in [
            "git show HEAD~1",
            "git stash show stash@{0}",
            "git log main@{u}..",
            "git log {a,b",
            "git commit -m \"Fix it!\"",
            "git commit -m \"Fix it! #12\"",
            "git commit -m Fix!",
            "git show a#b",
            "find . ! -name x",
            "test a != b",
            "find . -name x -exec echo {} +",
        ] {
            assert!(simple_command(text).is_some(), "{text:?}");
        }
        // To `cmd.exe` it is an escape.
        assert_eq!(simple_command("git show HEAD^").is_some(), !cfg!(windows));
    }
}
