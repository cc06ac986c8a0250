//! Splits a command into words as a shell does.

/// Characters that separate commands, or have a meaning to a shell outside of quotes.
pub(super) const SPECIAL: &str = ";&|<>(){}[]$`\\!*?#~^\r\n";

/// Characters that have a meaning to a shell within double quotes.
const SPECIAL_IN_QUOTES: &str = "$`\\!";

/// A part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glyph {
    Character(char),
    /// `*` outside of quotes.
    Any,
}

/// Returns the words of a text that is one simple command: without operators, expansions, escapes and line ends. Quotes are
/// taken off.
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

/// The same, with `*` outside of quotes where `takes_any` says so.
pub(super) fn read_words(text: &str, takes_any: bool) -> Option<Vec<Vec<Glyph>>> {
    let (mut words, mut word) = (Vec::new(), None::<Vec<Glyph>>);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        end if end == character => break,
                        special if character == '"' && SPECIAL_IN_QUOTES.contains(special) => return None,
                        inside => word.push(Glyph::Character(inside)),
                    }
                }
            }
            '*' if takes_any => word.get_or_insert_default().push(Glyph::Any),
            other if other.is_control() || SPECIAL.contains(other) => return None,
            other => word.get_or_insert_default().push(Glyph::Character(other)),
        }
    }
    words.extend(word);
    Some(words)
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
            "git *",
            "git 'unclosed",
            "git \u{7f}",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
