//! The scripts of `sed`, which can run programs and write files.

/// The scripts that are read are at most this long, since the time grows with the square of the length.
pub(super) const LENGTH_LIMIT: usize = 8_192;

/// Returns the places of the words behind `from` with a command `e`, `w` or `W`, or with a flag `e` or `w` of `s`. A script that cannot
/// be read counts too.
pub(super) fn running_words(words: &[String], from: usize) -> Vec<usize> {
    let mut found = Vec::new();
    for parts in scripts(words, from) {
        let script: Vec<char> =
            parts.iter().flat_map(|(_, text)| text.chars().chain(std::iter::once('\n'))).collect();
        let Some(commands) = running_commands(&script) else {
            found.extend(parts.first().map(|(at, _)| *at));
            continue;
        };
        let mut start = 0;
        for (at, text) in parts {
            let end = start + text.chars().count() + 1;
            if commands.iter().any(|command| (start..end).contains(command)) {
                found.push(at);
            }
            start = end;
        }
    }
    found
}

/// Returns the scripts of a command, each as its parts with their places. The options `-e` are the parts of one script.
fn scripts(words: &[String], from: usize) -> Vec<Vec<(usize, &str)>> {
    let (mut parts, mut operands, mut has_script, mut is_end) = (Vec::new(), Vec::new(), false, false);
    let mut at = from;
    while let Some(word) = words.get(at) {
        let option = if is_end { None } else { word.strip_prefix('-').filter(|option| !option.is_empty()) };
        let (letter, value) = match option {
            None => {
                let may_follow_suffix = words[at - 1].starts_with('-') && words[at - 1].ends_with(['i', 'I']);
                operands.push((at, word.as_str(), may_follow_suffix));
                (' ', None)
            }
            Some("-") => {
                is_end = true;
                (' ', None)
            }
            Some(option) => option_with_value(option),
        };
        has_script |= matches!(letter, 'e' | 'f');
        // A value that is not in the word is the next word.
        let is_next = matches!(letter, 'e' | 'f' | 'l') && value.is_none();
        at += usize::from(is_next);
        let value = value.or_else(|| words.get(at).map(String::as_str));
        if let ('e', Some(value)) = (letter, value) {
            parts.push((at, value));
        }
        at += 1;
    }
    if has_script {
        return vec![parts];
    }
    // BSD's `-i` takes the next word as a suffix of file names, and the script follows.
    let is_suffix = |text: &str| {
        let is_name = text.len() > 1 && !text.starts_with(|first: char| first.is_ascii_digit());
        text.is_empty()
            || is_name && text.chars().all(|letter| letter.is_alphanumeric() || ".~_".contains(letter))
    };
    let count = match operands.first() {
        Some((_, text, true)) if is_suffix(text) => 2,
        _ => 1,
    };
    operands.into_iter().take(count).map(|(at, text, _)| vec![(at, text)]).collect()
}

/// Returns the letter of the option `-e`, `-f` or `-l` in a word without its first dash, with the value within the word.
fn option_with_value(option: &str) -> (char, Option<&str>) {
    if let Some(long) = option.strip_prefix('-') {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let names = [("expression", 'e'), ("file", 'f'), ("line-length", 'l')];
        let letter =
            names.iter().find(|(known, _)| known.starts_with(name)).map_or(' ', |(_, letter)| *letter);
        return (letter, value);
    }
    let Some(at) = option.find(['e', 'f', 'l', 'i', 'I']) else { return (' ', None) };
    let rest = &option[at + 1..];
    (char::from(option.as_bytes()[at]), (!rest.is_empty()).then_some(rest))
}

/// The places of the commands in a script that run a program or write a file. `None` if the script cannot be read.
///
/// Versions of sed differ in whether a delimiter within brackets ends an expression. A script is read in each way.
fn running_commands(script: &[char]) -> Option<Vec<usize>> {
    if script.len() > LENGTH_LIMIT {
        return None;
    }
    let (mut found, mut is_read) = (Vec::new(), false);
    let (mut starts, mut seen) = (vec![0], vec![false; script.len() + 1]);
    while let Some(start) = starts.pop() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        for brackets in [Brackets::Plain, Brackets::Literal, Brackets::Escaped] {
            let mut reader = Reader { script, at: start, brackets, runs: None };
            let is_command = reader.command();
            found.extend(reader.runs);
            match is_command {
                None => {}
                Some(false) => is_read = true,
                Some(true) => starts.push(reader.at),
            }
        }
    }
    is_read.then_some(found)
}

/// The meaning of `[` in a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// A delimiter between brackets ends the expression.
    Plain,
    /// A delimiter between brackets does not, and a backslash stands for itself there.
    Literal,
    /// A delimiter between brackets does not, and a backslash escapes there.
    Escaped,
}

struct Reader<'a> {
    script: &'a [char],
    at: usize,
    brackets: Brackets,
    /// The place of a command or flag that runs a program or writes a file.
    runs: Option<usize>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.script.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Advances while the characters are of a kind.
    fn skip(&mut self, is_kind: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is_kind) {
            self.at += 1;
        }
    }

    fn skip_spaces(&mut self) {
        self.skip(|next| next != '\n' && next.is_whitespace());
    }

    /// Reads a command with its addresses. `None` if there is none to read, false at the end of the script.
    fn command(&mut self) -> Option<bool> {
        self.skip(|next| next.is_whitespace() || next == ';');
        if self.peek().is_none() {
            return Some(false);
        }
        self.address()?;
        self.skip_spaces();
        if self.peek() == Some(',') {
            self.at += 1;
            self.skip_spaces();
            self.address()?;
        }
        self.skip(|next| next == '!' || next != '\n' && next.is_whitespace());
        let start = self.at;
        match self.next()? {
            '{' => {}
            '#' | 'r' | 'R' => self.skip(|next| next != '\n'),
            'e' => {
                self.runs = Some(start);
                self.skip(|next| next != '\n');
            }
            'w' | 'W' => self.file(start),
            'a' | 'i' | 'c' => self.text(),
            's' => self.substitution()?,
            'y' => {
                let delimiter = self.delimiter()?;
                self.delimited(delimiter, Brackets::Plain)?;
                self.delimited(delimiter, Brackets::Plain)?;
                self.end()?;
            }
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.skip_spaces();
                self.skip(|next| !next.is_whitespace() && next != ';' && next != '}');
                self.end()?;
            }
            'q' | 'Q' | 'l' | 'L' => {
                self.skip_spaces();
                self.skip(|next| next.is_ascii_digit());
                self.end()?;
            }
            next if "}=dDgGhHnNpPxzF".contains(next) => self.end()?,
            _ => return None,
        }
        Some(true)
    }

    /// Reads an address, if there is one.
    fn address(&mut self) -> Option<()> {
        let delimiter = match self.peek() {
            Some('/') => self.next(),
            Some('\\') => {
                self.at += 1;
                Some(self.delimiter()?)
            }
            _ => None,
        };
        match delimiter {
            Some(delimiter) => {
                self.delimited(delimiter, self.brackets)?;
                self.skip(|next| next == 'I' || next == 'M');
            }
            None => self.skip(|next| next.is_ascii_digit() || "$~+".contains(next)),
        }
        Some(())
    }

    /// Reads the expressions and flags of `s`.
    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.delimited(delimiter, self.brackets)?;
        self.delimited(delimiter, Brackets::Plain)?;
        loop {
            self.skip(|next| next.is_ascii_digit() || "gpiImM".contains(next));
            let start = self.at;
            match self.peek() {
                Some('e') => {
                    self.at += 1;
                    self.runs = Some(start);
                }
                Some('w') => {
                    self.at += 1;
                    self.file(start);
                    return Some(());
                }
                _ => return self.end(),
            }
        }
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|delimiter| !['\n', '\\'].contains(delimiter))
    }

    /// Reads up to a delimiter, and over it.
    fn delimited(&mut self, delimiter: char, brackets: Brackets) -> Option<()> {
        loop {
            match self.next()? {
                next if next == delimiter => return Some(()),
                '\n' => return None,
                '\\' => self.at += 1,
                '[' if brackets != Brackets::Plain => self.bracket(brackets)?,
                _ => {}
            }
        }
    }

    /// Reads the rest of a bracket expression. A `]` at its beginning and within `[:…:]` does not end it.
    fn bracket(&mut self, brackets: Brackets) -> Option<()> {
        self.at += usize::from(self.peek() == Some('^'));
        self.at += usize::from(self.peek() == Some(']'));
        loop {
            match self.next()? {
                ']' => return Some(()),
                '\n' => return None,
                '\\' if brackets == Brackets::Escaped => self.at += 1,
                '[' => {
                    if let Some(kind @ (':' | '.' | '=')) = self.peek() {
                        self.at += 1;
                        while (self.next()?, self.peek()) != (kind, Some(']')) {}
                        self.at += 1;
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads the name of a file to write. The standard streams are none.
    fn file(&mut self, start: usize) {
        self.skip_spaces();
        let name = self.at;
        self.skip(|next| next != '\n');
        let name: String = self.script[name..self.at].iter().collect();
        if name != "/dev/stdout" && name != "/dev/stderr" {
            self.runs = Some(start);
        }
    }

    /// Reads a text up to the end of a line that has no backslash before it.
    fn text(&mut self) {
        while let Some(next) = self.next() {
            match next {
                '\n' => return,
                '\\' => self.at = self.script.len().min(self.at + 1),
                _ => {}
            }
        }
    }

    /// Reads the end of a command.
    fn end(&mut self) -> Option<()> {
        self.skip_spaces();
        match self.peek() {
            Some('}' | '#') | None => Some(()),
            Some(';' | '\n') => {
                self.at += 1;
                Some(())
            }
            _ => None,
        }
    }
}
