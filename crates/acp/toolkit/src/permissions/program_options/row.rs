//! A row of the tables: programs, how their options are written, and the arguments that a rule must name.

/// Programs, and their arguments that a rule must name. Arguments are separated by spaces, and each has one of these
/// forms:
///
/// | text | argument |
/// |---|---|
/// | `-x` | this one-letter option, also within a cluster such as `-vx` or before its value |
/// | `-name` | this option, with one dash or two |
/// | `--name` | this option, which may be abbreviated |
/// | `-x=text`, `--name=text` | this option if its value contains the text |
/// | `text*` | a word that begins with the text |
/// | `*text` | an operand that contains the text, in any case |
/// | `**text` | an operand that contains the text as a whole word, in any case |
/// | `=` | an operand `NAME=value` |
/// | `#2` | the second operand and all later ones |
/// | `one`, `one/two` | this command of the program: its first operands |
/// | `!word`, `!text*` | a word that a rule need not name, even if another entry matches it |
/// | `!word>next`, `!word>text*` | the same, if `next` or a word with this beginning follows it |
///
/// In a name, `ex+ec` matches `exec` and its abbreviations down to `ex`. After `!`, a final `#` matches a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) programs: &'static str,
    arguments: &'static str,
    /// The commands of the program to which the row applies. Empty for all. `--` applies it to the words after `--`.
    commands: &'static str,
    /// The letters of options that take a value. `None` if letters form no clusters.
    ///
    /// The value is the rest of the word, or the next word if nothing is left. A letter after `~` takes its value from
    /// the next word only. With `?`, any other letter may take one from the next word.
    letters: Option<&'static str>,
    /// The options that always take their value from the next word.
    values: &'static str,
    /// The number of operands after which options end.
    options_end: Option<usize>,
    ignores_case: bool,
    /// Whether `--a_b` and `--aB` mean `--a-b`.
    has_spellings: bool,
}

/// A row for programs whose options of one letter form clusters.
pub(super) const fn clusters(programs: &'static str, letters: &'static str, arguments: &'static str) -> Row {
    Row { letters: Some(letters), ..words(programs, arguments) }
}

/// A row for programs whose options with one dash are whole words.
pub(super) const fn words(programs: &'static str, arguments: &'static str) -> Row {
    Row {
        programs,
        arguments,
        commands: "",
        letters: None,
        values: "",
        options_end: None,
        ignores_case: false,
        has_spellings: false,
    }
}

impl Row {
    /// Limits the row to commands of the program.
    pub(super) const fn within(self, commands: &'static str) -> Self {
        Self { commands, ..self }
    }

    /// Ends the options at the first operand.
    pub(super) const fn leading(self) -> Self {
        self.leading_to(1)
    }

    /// Ends the options at this operand.
    pub(super) const fn leading_to(self, operand: usize) -> Self {
        Self { options_end: Some(operand), ..self }
    }

    /// Sets the options that always take their value from the next word, in each of their spellings.
    pub(super) const fn values(self, values: &'static str) -> Self {
        Self { values, ..self }
    }

    /// Ignores case: `-C` is `-c`.
    pub(super) const fn any_case(self) -> Self {
        Self { ignores_case: true, ..self }
    }

    /// Treats `--a_b` and `--aB` as `--a-b`.
    pub(super) const fn spellings(self) -> Self {
        Self { has_spellings: true, ..self }
    }

    /// Returns whether the row is for a program.
    pub(super) fn is_for(&self, program: &str) -> bool {
        self.programs.split(' ').any(|name| name == program)
    }

    /// Returns the indices of the words from `from` on that the row lists. With `has_bare_cluster`, the first may be a
    /// cluster without a dash.
    pub(super) fn find(&self, words: &[String], from: usize, has_bare_cluster: bool) -> Vec<usize> {
        let Some(from) = self.start(words, from) else { return Vec::new() };
        let mut found = Vec::new();
        let mut paths: Vec<CommandPath> = self.arguments.split(' ').filter_map(CommandPath::new).collect();
        // The operands before a word. Those behind an option may be values of options, and do not count.
        let (mut operands, mut has_operand) = (0, false);
        let (mut is_end, mut may_be_value) = (false, false);
        let are_options_over = |operands: usize| self.options_end.is_some_and(|end| operands >= end);
        for at in from..words.len() {
            let previous = &words[at - 1];
            // A value may look like an option. It takes no value itself.
            let is_option_before = at > from && !may_be_value && !is_end && !are_options_over(operands);
            may_be_value = at > from && self.may_take_next(previous);
            let is_value = is_option_before && self.takes_next(previous);
            let word = self.plain(&words[at]);
            is_end |= self.letters.is_some() && word == "--" && !may_be_value;
            let is_operand = is_end || !word.starts_with('-') || word == "-";
            let is_path = is_operand && !is_value && reaches_one(&mut paths, &word, operands);
            let mut may_be_second = false;
            if is_operand && !is_value {
                may_be_second = std::mem::replace(&mut has_operand, true);
                operands += usize::from(!may_be_value);
            }
            let has_options = !(is_end || are_options_over(operands));
            let is_bare_cluster = has_bare_cluster && at == from && is_operand;
            let argument = Argument {
                word: &word,
                next: words.get(at + 1),
                is_operand,
                may_be_second,
                has_options,
                is_bare_cluster,
            };
            if !self.is_harmless(&argument) && (is_path || self.lists(&argument)) {
                found.push(at);
            }
        }
        found
    }

    /// Returns a word in the spelling of the entries.
    fn plain(&self, word: &str) -> String {
        let mut plain = word.to_owned();
        if self.ignores_case {
            plain.make_ascii_lowercase();
        }
        if self.has_spellings && word.starts_with("--") {
            let name = word.find('=').unwrap_or(word.len());
            plain.replace_range(..name, &with_dashes(&word[..name]));
        }
        plain
    }

    /// Returns the index after the command to which the row applies, or `None` if the words do not contain it.
    fn start(&self, words: &[String], from: usize) -> Option<usize> {
        if self.commands.is_empty() {
            return Some(from);
        }
        if self.commands == "--" {
            return words[from..].iter().position(|word| word == "--").map(|at| from + at + 1);
        }
        let mut paths: Vec<CommandPath> = self.commands.split(' ').filter_map(CommandPath::new).collect();
        let mut operands = 0;
        for at in from..words.len() {
            if words[at].starts_with('-') {
                continue;
            }
            if reaches_one(&mut paths, &words[at], operands) {
                return Some(at + 1);
            }
            operands += usize::from(at == from || !words[at - 1].starts_with('-'));
        }
        None
    }

    fn lists(&self, argument: &Argument<'_>) -> bool {
        self.arguments.split(' ').any(|entry| self.is_argument(entry, argument))
    }

    fn is_harmless(&self, argument: &Argument<'_>) -> bool {
        let mut entries = self.arguments.split(' ').filter_map(|entry| entry.strip_prefix('!'));
        entries.any(|entry| match entry.split_once('>') {
            Some((entry, next)) => {
                let is_next = |word: &String| is_exception(next, word, word);
                is_name(entry, argument.word) && argument.next.is_some_and(is_next)
            }
            None => is_exception(entry, argument.word, argument.name()),
        })
    }

    fn is_argument(&self, entry: &str, argument: &Argument<'_>) -> bool {
        if let Some(start) = entry.strip_suffix('*') {
            return (argument.is_operand || argument.has_options) && argument.begins(start);
        }
        if let Some(part) = entry.strip_prefix("**") {
            return argument.is_operand && has_word(argument.word, part);
        }
        if let Some(part) = entry.strip_prefix('*') {
            return argument.is_operand && argument.word.to_ascii_lowercase().contains(part);
        }
        if entry == "#2" {
            return argument.may_be_second;
        }
        if entry == "=" {
            return argument.is_operand && argument.word.contains('=');
        }
        if !entry.starts_with('-') || !(argument.has_options || argument.is_bare_cluster) {
            return false;
        }
        let (entry, text) = entry.split_once('=').unwrap_or((entry, ""));
        let value = if let Some(long) = entry.strip_prefix("--") {
            let name = argument.name().strip_prefix("--").filter(|name| !name.is_empty());
            name.filter(|name| long.starts_with(name)).map(|_| argument.value())
        } else if let Some(letters) = self.letters.filter(|_| entry.len() == 2) {
            cluster(argument.word, argument.is_bare_cluster, letters)
                .find(|(letter, _)| entry.ends_with(*letter))
                .map(|(_, rest)| rest)
        } else {
            let name = argument.name();
            let name = name.strip_prefix('-').filter(|name| name.starts_with('-')).unwrap_or(name);
            is_name(entry, name).then(|| argument.value())
        };
        value.is_some_and(|value| {
            let value = if value.is_empty() { argument.next.map_or("", String::as_str) } else { value };
            value.contains(text)
        })
    }

    /// Returns whether the next word may be the value of an option in this one.
    pub(super) fn may_take_next(&self, word: &str) -> bool {
        if !word.starts_with('-') || matches!(word, "-" | "--") || word.contains('=') {
            return false;
        }
        if word.starts_with("--") {
            return !word.starts_with("--no-") || self.has_value(word);
        }
        let Some(letters) = self.letters else { return true };
        let is_last = |letter: char| word.ends_with(letter);
        let (whole, apart) = letters.split_once('~').unwrap_or((letters, ""));
        cluster(word, false, letters).any(|(letter, rest)| {
            apart.contains(letter) || rest.is_empty() && whole.contains(letter) && is_last(letter)
        }) || letters.contains('?')
    }

    fn has_value(&self, word: &str) -> bool {
        word.starts_with('-') && self.values.split(' ').any(|value| value == word)
    }

    /// Returns whether the next word is the value of an option in this one.
    pub(super) fn takes_next(&self, word: &str) -> bool {
        let is_known = self.letters.is_some_and(|letters| !letters.contains('?'));
        self.has_value(word) || is_known && !word.starts_with("--") && self.may_take_next(word)
    }
}

/// A word of a command.
struct Argument<'a> {
    word: &'a str,
    next: Option<&'a String>,
    is_operand: bool,
    may_be_second: bool,
    /// Whether options are still read at this word.
    has_options: bool,
    is_bare_cluster: bool,
}

impl<'a> Argument<'a> {
    /// The name of an option without its value.
    fn name(&self) -> &'a str {
        self.word.split(['=', ':']).next().unwrap_or_default()
    }

    /// The value within the word.
    fn value(&self) -> &'a str {
        self.word.split_once(['=', ':']).map_or("", |(_, value)| value)
    }

    fn begins(&self, start: &str) -> bool {
        // `-D name=value` is `-Dname=value`.
        let next = self.next.filter(|_| self.word.len() == 2 && start.starts_with('-'));
        self.word.starts_with(start)
            || next.is_some_and(|next| {
                start.strip_prefix(self.word).is_some_and(|start| next.starts_with(start))
            })
    }
}

/// The letters in a cluster of options, up to one that has a value, each with the rest of the word.
fn cluster<'a>(
    word: &'a str,
    is_bare: bool,
    letters: &'static str,
) -> impl Iterator<Item = (char, &'a str)> + use<'a> {
    let is_cluster = is_bare || word.starts_with('-') && !word.starts_with("--");
    let word = if is_cluster { &word[usize::from(!is_bare)..] } else { "" };
    let (whole, _) = letters.split_once('~').unwrap_or((letters, ""));
    let mut is_value = false;
    word.char_indices().map_while(move |(at, letter)| {
        // Without a dash, the values follow in the next words.
        let is_before = !is_value;
        is_value = !is_bare && whole.contains(letter);
        is_before.then(|| (letter, if is_bare { "" } else { &word[at + letter.len_utf8()..] }))
    })
}

/// Returns whether a word is a name of a table or one of its abbreviations.
fn is_name(listed: &str, word: &str) -> bool {
    match listed.split_once('+') {
        None => listed == word,
        Some((least, rest)) => word.strip_prefix(least).is_some_and(|more| rest.starts_with(more)),
    }
}

/// The name of an option with `-` before each of its words.
fn with_dashes(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '_' => plain.push('-'),
            c if c.is_ascii_uppercase() => plain.extend(['-', c.to_ascii_lowercase()]),
            c => plain.push(c),
        }
    }
    plain
}

/// Returns whether an entry after `!` matches a word.
fn is_exception(entry: &str, word: &str, name: &str) -> bool {
    if let Some(start) = entry.strip_suffix('#') {
        let number = word.strip_prefix(start).unwrap_or_default();
        return !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    let whole = if entry.starts_with('-') { name } else { word };
    entry.strip_suffix('*').map_or(whole == entry, |start| word.starts_with(start))
}

/// Returns whether a text contains a word in any case, with no letter, digit or `_` beside it.
fn has_word(text: &str, word: &str) -> bool {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.to_ascii_lowercase().split(|c| !is_in_word(c)).any(|other| other == word)
}

/// A command such as `one/two`, and the number of its words read so far.
struct CommandPath {
    names: Vec<&'static str>,
    read: usize,
}

/// Reads a word into each path, and returns whether it completes one.
fn reaches_one(paths: &mut [CommandPath], word: &str, operands: usize) -> bool {
    let mut is_reached = false;
    for path in paths {
        is_reached |= path.reaches(word, operands);
    }
    is_reached
}

impl CommandPath {
    fn new(entry: &'static str) -> Option<Self> {
        let is_path =
            !entry.starts_with(['-', '*', '=', '!', '#']) && !entry.ends_with('*') && !entry.is_empty();
        is_path.then(|| Self { names: entry.split('/').collect(), read: 0 })
    }

    /// Reads an operand that has at least so many before it, and returns whether it ends the command.
    fn reaches(&mut self, word: &str, operands: usize) -> bool {
        // An operand may complete the command, or begin it again.
        let last = self.read.min(self.names.len() - 1);
        let place = (operands..=last).rev().find(|place| is_name(self.names[*place], word));
        let Some(place) = place else { return false };
        self.read = self.read.max(place + 1);
        place + 1 == self.names.len()
    }
}
