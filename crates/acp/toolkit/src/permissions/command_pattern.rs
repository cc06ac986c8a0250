//! Patterns of commands: words, in which `*` stands for any characters.

use super::command_words::{Glyph, SPECIAL, read_words};
use super::program_options::arguments_to_name;

/// A part of a pattern or of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Character(char),
    /// The separator of two words.
    Space,
    /// The separator of two commands, or a character with another meaning to a shell.
    Operator,
    /// Any characters of one word or of several. Only in patterns.
    Any,
}

/// A pattern of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandPattern(Vec<Symbol>);

impl CommandPattern {
    /// Reads a pattern. `None` if a shell would split or expand it, other than by `*`.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut symbols = Vec::new();
        for word in read_words(text, true)? {
            if !symbols.is_empty() {
                symbols.push(Symbol::Space);
            }
            symbols.extend(word.into_iter().map(|glyph| match glyph {
                Glyph::Character(character) => Symbol::Character(character),
                Glyph::Any => Symbol::Any,
            }));
        }
        // A pattern is a beginning, so a last word `*` adds nothing.
        while symbols.ends_with(&[Symbol::Space, Symbol::Any]) {
            symbols.truncate(symbols.len() - 2);
        }
        Some(Self(symbols))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the words begin with the pattern.
    pub(super) fn begins(&self, words: &[String]) -> bool {
        let separated = words.iter().enumerate().flat_map(|(index, word)| {
            let space = (index > 0).then_some(Symbol::Space);
            space.into_iter().chain(word.chars().map(Symbol::Character))
        });
        !words.is_empty() && is_matched(&self.0, separated, false)
    }

    /// Returns whether the pattern names each argument that runs a program, writes a file or loads settings, as often as
    /// the command contains it.
    pub(super) fn names_arguments(&self, words: &[String]) -> bool {
        let own: Vec<Option<String>> = self.0.split(|symbol| *symbol == Symbol::Space).map(literal).collect();
        let named = own.iter().take_while(|word| word.is_some()).count();
        let found = arguments_to_name(words, named);
        let count = |word: &String| own.iter().flatten().filter(|other| *other == word).count();
        found.iter().all(|at| {
            let word = &words[*at];
            found.iter().filter(|other| words[**other] == *word).count() <= count(word)
        })
    }

    /// Returns whether a text contains the pattern, from the beginning of a word or of a component of a path. Quotes and
    /// escapes are ignored, and `*` matches operators, also directly beside it.
    pub(super) fn occurs(&self, text: &str) -> bool {
        // A shell joins a line that ends with a backslash with the next.
        let text = text.replace("\\\n", "");
        let pattern = plain(self.0.iter().copied());
        let text = plain(text.chars().map(Symbol::Character));
        !text.is_empty() && is_matched(&pattern, text.into_iter(), true)
    }
}

/// Returns the text of a word, or `None` if it contains `*`.
fn literal(word: &[Symbol]) -> Option<String> {
    let characters = word.iter().map(|symbol| match symbol {
        Symbol::Character(character) => Some(*character),
        _ => None,
    });
    characters.collect()
}

/// Leaves out quotes, escapes and spaces beside operators.
fn plain(symbols: impl Iterator<Item = Symbol>) -> Vec<Symbol> {
    let mut plain: Vec<Symbol> = Vec::new();
    for symbol in symbols {
        let symbol = match symbol {
            Symbol::Character('\'' | '"' | '\\') => continue,
            Symbol::Character('\n') => Symbol::Operator,
            Symbol::Character(character) if character.is_whitespace() => Symbol::Space,
            Symbol::Character(character) if character.is_control() || SPECIAL.contains(character) => {
                Symbol::Operator
            }
            other => other,
        };
        match (plain.last(), symbol) {
            (None | Some(Symbol::Space | Symbol::Operator), Symbol::Space) => {}
            (Some(Symbol::Operator), Symbol::Operator) => {}
            (Some(Symbol::Space), Symbol::Operator) => *plain.last_mut().expect("it was matched") = symbol,
            _ => plain.push(symbol),
        }
    }
    if plain.last() == Some(&Symbol::Space) {
        plain.pop();
    }
    plain
}

/// Returns whether the pattern matches the text from its beginning on, or from any word on, up to the end of a word.
/// Takes time in proportion to the length of both.
fn is_matched(pattern: &[Symbol], text: impl Iterator<Item = Symbol>, anywhere: bool) -> bool {
    let is_end = |symbol: Option<Symbol>| matches!(symbol, None | Some(Symbol::Space | Symbol::Operator));
    // A space beside an operator is left out, so `*` may have ended, or begun, with that operator.
    let is_any = |index: usize| pattern.get(index) == Some(&Symbol::Any);
    let is_same = |index: usize, symbol: Symbol| {
        let is_beside_any = is_any(index + 1) || index > 0 && is_any(index - 1);
        pattern[index] == symbol
            || (anywhere && is_beside_any && (pattern[index], symbol) == (Symbol::Space, Symbol::Operator))
    };
    // Which parts of the pattern are matched so far.
    let mut reached = vec![false; pattern.len() + 1];
    let mut previous = None;
    let mut text = text.peekable();
    loop {
        let is_start = match previous {
            None => true,
            Some(_) if !anywhere => false,
            Some(Symbol::Character('/')) => true,
            previous => is_end(previous),
        };
        reached[0] |= is_start;
        for index in 0..pattern.len() {
            reached[index + 1] |= reached[index] && pattern[index] == Symbol::Any;
        }
        let next = text.next();
        if reached[pattern.len()] && is_end(next) && previous.is_some() {
            return true;
        }
        let Some(symbol) = next else { return false };
        for index in (0..pattern.len()).rev() {
            // What follows `*` stays reached, whatever comes.
            if pattern[index] != Symbol::Any {
                reached[index + 1] = reached[index] && is_same(index, symbol);
            }
        }
        reached[0] = false;
        previous = Some(symbol);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> CommandPattern {
        CommandPattern::new(text).unwrap()
    }

    fn begins(text: &str, words: &str) -> bool {
        let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
        pattern(text).begins(&words)
    }

    #[test]
    fn a_pattern_is_the_beginning_of_a_command() {
        for (text, command, expected) in [
            ("git", "git", true),
            ("git", "git status", true),
            ("git", "gitk", false),
            ("git *", "git", true),
            ("git *", "git status -s", true),
            ("git *", "gitk", false),
            ("npm*", "npm", true),
            ("npm*", "npm-run x", true),
            ("npm*", "npm install x", true),
            ("npm*", "pnpm install", false),
            ("npm run test:*", "npm run test:unit --watch", true),
            ("npm run test:*", "npm run tests", false),
            ("git * --force", "git push a b --force", true),
            ("git * --force", "git push --force now", true),
            ("git * --force", "git push --forced", false),
            ("git * --force", "git --force", false),
            ("*", "anything at all", true),
            ("* x", "a b x", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("'a*'", "ab", false),
            ("'a*'", "a*", true),
        ] {
            assert_eq!(begins(text, command), expected, "{text} {command}");
        }
        assert!(!pattern("*").begins(&[]));
        for text in ["a?", "a [b]", "a && b", "$a", "a\nb", "a 'b", "a `b`", "a \\b", "{a,b}"] {
            assert_eq!(CommandPattern::new(text), None, "{text}");
        }
        assert!(pattern("").is_empty());
    }

    #[test]
    fn a_pattern_is_found_in_any_part_of_a_text() {
        for (text, command, expected) in [
            ("rm", "rm x", true),
            ("rm", "ls; rm x", true),
            ("rm", "ls;rm", true),
            ("rm", "sudo /bin/rm x", true),
            ("rm", "form x", false),
            ("rm", "rmdir x", false),
            ("rm*", "ls && rmdir x", true),
            ("rm*", "/usr/bin/rmdir x", true),
            ("rm*", "form", false),
            ("git status", "git; status", false),
            ("git status", "g\\it 'status'", true),
            ("git * --force", "git push origin HEAD~1 --force", true),
            ("git * --force", "x $(git push --force)", true),
            ("git * --force", "git push origin HEAD^ --force", true),
            ("git * --force", "git push origin $(git branch --show-current) --force", true),
            ("git * --force", "git push origin main \\\n  --force", true),
            ("git push", "git \\\n  push", true),
            ("git push", "git pu\\\nsh", true),
            ("rm * -rf", "rm $DIR -rf", true),
            ("rm * -rf", "rm *.txt -rf", true),
            ("rm * -rf", "rm \"$DIR\" -rf", true),
            ("rm * -rf", "rm $DIR -r", false),
            ("git * --force", "git push --forced", false),
            ("*", "ls", true),
            ("*", "", false),
            ("'a;b'", "a;b", true),
            ("'a  b'", "a b", true),
        ] {
            assert_eq!(pattern(text).occurs(command), expected, "{text} {command}");
        }
    }

    /// A text that nearly matches at every character takes no more time than another.
    #[test]
    fn long_texts_are_read_once() {
        let text = "a ".repeat(1 << 20);
        assert!(!pattern("a*a*a*a*b").occurs(&text));
        assert!(pattern("a*a*a*a*a").occurs(&text));
    }
}
