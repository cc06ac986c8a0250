//! Escapes control and formatting characters in a peer's text, so that it can be shown on a terminal.

use std::fmt::{self, Write as _};

/// Shows text that a peer wrote to a person. The shown text cannot steer a terminal, reorder the text around it, or hide
/// characters.
///
/// | in the text | shown as |
/// |---|---|
/// | C0 controls and DEL | caret notation: `^[` for ESC, `^?` for DEL |
/// | C1 controls, marks that reorder text, characters without a width, U+2028, U+2029 | `<U+202E>` |
/// | a line break, as `\n` or `\r\n` | a line break, or a space in [one line](Self::one_line) |
/// | a tab | a tab, or a space in one line |
/// | anything else | itself |
///
/// The joiners U+200C and U+200D and variation selectors stay, because scripts and emoji need them. Showing the result again
/// changes nothing.
///
/// ```
/// use agentwire_jsonrpc::Printable;
///
/// assert_eq!(Printable::new("\u{1b}[2Jone\r\ntwo\u{202e}").to_string(), "^[[2Jone\ntwo<U+202E>");
/// assert_eq!(Printable::one_line("one\n\ttwo\u{7f}").to_string(), "one  two^?");
/// assert_eq!(Printable::new("one\ntwo\u{7f}").plain_start(), "one\ntwo");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a> {
    text: &'a str,
    one_line: bool,
}

impl<'a> Printable<'a> {
    /// Keeps line breaks and tabs.
    pub fn new(text: &'a str) -> Self {
        Self { text, one_line: false }
    }

    /// Shows spaces for line breaks and tabs, so that the text cannot look like a line of its own.
    pub fn one_line(text: &'a str) -> Self {
        Self { text, one_line: true }
    }

    /// Shows what a value displays, and keeps line breaks and tabs. Nothing is allocated.
    ///
    /// An error type whose text quotes a peer escapes the quote this way, so that its `Display` is safe to print:
    ///
    /// ```
    /// use agentwire_jsonrpc::Printable;
    ///
    /// let (name, why) = ("list", "\u{1b}[2Jgone");
    /// assert_eq!(Printable::display(format_args!("{name}: {why}")).to_string(), "list: ^[[2Jgone");
    /// ```
    pub fn display(value: impl fmt::Display) -> impl fmt::Display {
        PrintableDisplay(value)
    }

    /// Shows JSON text as JSON of the same value. In strings, a character that would be replaced becomes a JSON escape such as
    /// `\u009b`. White space is kept. In one line, each white-space character becomes a space.
    ///
    /// ```
    /// use agentwire_jsonrpc::Printable;
    ///
    /// let json = "{\n\"a\": \"\u{9b}2J\"}";
    /// assert_eq!(Printable::new(json).json().to_string(), "{\n\"a\": \"\\u009b2J\"}");
    /// assert_eq!(Printable::one_line(json).json().to_string(), "{ \"a\": \"\\u009b2J\"}");
    /// ```
    pub fn json(self) -> impl fmt::Display + 'a {
        PrintableJson(self)
    }

    /// Whether the text is shown unchanged.
    pub fn is_plain(&self) -> bool {
        self.plain_start().len() == self.text.len()
    }

    /// The longest beginning of the text that is shown unchanged.
    pub fn plain_start(&self) -> &'a str {
        let plain = |character| is_plain(character) || !self.one_line && matches!(character, '\n' | '\t');
        let end = self.text.char_indices().find(|(_, character)| !plain(*character));
        end.map_or(self.text, |(end, _)| &self.text[..end])
    }
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.text;
        loop {
            let plain = Self { text: rest, ..*self }.plain_start();
            f.write_str(plain)?;
            let mut characters = rest[plain.len()..].chars();
            let Some(character) = characters.next() else { return Ok(()) };
            rest = characters.as_str();
            match character {
                '\n' | '\t' => f.write_str(" ")?,
                // The line feed behind it is the line break.
                '\r' if rest.starts_with('\n') => {}
                '\0'..='\x1f' => write!(f, "^{}", char::from(character as u8 + b'@'))?,
                '\x7f' => f.write_str("^?")?,
                _ => write!(f, "<U+{:04X}>", u32::from(character))?,
            }
        }
    }
}

struct PrintableJson<'a>(Printable<'a>);

impl fmt::Display for PrintableJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.text;
        loop {
            let plain = Printable { text: rest, ..self.0 }.plain_start();
            f.write_str(plain)?;
            let mut characters = rest[plain.len()..].chars();
            let Some(character) = characters.next() else { return Ok(()) };
            rest = characters.as_str();
            match character {
                // White space between tokens: a JSON string cannot contain these characters.
                '\0'..=' ' => f.write_str(" ")?,
                character => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        write!(f, "\\u{unit:04x}")?;
                    }
                }
            }
        }
    }
}

struct PrintableDisplay<T>(T);

impl<T: fmt::Display> fmt::Display for PrintableDisplay<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = Pieces { f, after_return: false };
        write!(pieces, "{}", self.0)?;
        pieces.end_return("")
    }
}

/// Escapes a text that arrives in pieces.
struct Pieces<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    /// Whether a carriage return is held back, because the next piece may begin with its line feed.
    after_return: bool,
}

impl Pieces<'_, '_> {
    /// Shows the carriage return that was held back, unless it is part of a line break.
    fn end_return(&mut self, next: &str) -> fmt::Result {
        match std::mem::take(&mut self.after_return) && !next.starts_with('\n') {
            true => fmt::Display::fmt(&Printable::new("\r"), self.f),
            false => Ok(()),
        }
    }
}

impl fmt::Write for Pieces<'_, '_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if piece.is_empty() {
            return Ok(());
        }
        self.end_return(piece)?;
        let text = piece.strip_suffix('\r');
        self.after_return = text.is_some();
        fmt::Display::fmt(&Printable::new(text.unwrap_or(piece)), self.f)
    }
}

/// Whether a character takes its own place on the screen and does nothing else.
fn is_plain(character: char) -> bool {
    match character {
        ' '..='~' => true,
        '\0'..='\u{9f}' => false,
        // Format characters and other ignorable characters that no script needs in plain text.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e007f}' => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        let all: String = ('\0'..=char::MAX).collect();
        for shown in [Printable::new(&all).to_string(), Printable::one_line(&all).to_string()] {
            assert!(!shown.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')));
            assert!(!shown.contains(['\u{202e}', '\u{2066}', '\u{200f}', '\u{2028}', '\u{e0041}']));
        }
        assert!(!Printable::one_line(&all).to_string().contains(['\n', '\t']));
    }

    #[test]
    fn escaping_is_idempotent() {
        let text = "\u{1b}]0;title\u{7}\r\r\n\u{9b}31mред\u{200f} 漢字 👩\u{200d}💻\t.";
        let shown = Printable::new(text).to_string();
        assert_eq!(shown, "^[]0;title^G^M\n<U+009B>31mред<U+200F> 漢字 👩\u{200d}💻\t.");
        assert_eq!(Printable::new(&shown).to_string(), shown);
    }

    #[test]
    fn json_is_shown_as_json_of_the_same_value() {
        let all: String = ('\0'..=char::MAX).collect();
        let json = serde_json::to_string(&[&all]).unwrap();
        for printable in [Printable::new(&json), Printable::one_line(&json)] {
            let shown = printable.json().to_string();
            assert!(Printable::one_line(&shown).is_plain());
            assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [&*all]);
        }
    }

    #[test]
    fn pieces_of_a_display_are_escaped_like_the_whole_text() {
        for text in ["\r", "\r\n", "a\r\r\nb\r", "\u{1b}[2Jред\r\n\u{9b}", ""] {
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let (start, end) = text.split_at(at);
                let pieces = Printable::display(format_args!("{start}{}{end}", "")).to_string();
                assert_eq!(pieces, Printable::new(text).to_string(), "{text:?} at {at}");
            }
        }
        let shown = Printable::display("\u{1b}").to_string();
        assert_eq!(Printable::display(&shown).to_string(), "^[");
    }
}
