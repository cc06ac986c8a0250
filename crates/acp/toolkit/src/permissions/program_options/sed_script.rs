//! The scripts of `sed`, which can run programs and write files.

/// The classes of characters in a bracket expression.
const CLASSES: &[&str] = &[
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "xdigit",
];

/// The longest script that is read, in bytes.
const LENGTH_LIMIT: usize = 2_000;

/// Returns the indices of the scripts, from `from` on, that may run a program or write a file.
///
/// Versions of sed parse some scripts differently, so only a script that all of them parse alike counts as harmless.
pub(super) fn running_words(words: &[String], from: usize) -> Vec<usize> {
    scripts(words, from).into_iter().filter(|(_, script)| !only_edits(script)).map(|(at, _)| at).collect()
}

/// Returns the scripts of a command with their indices.
fn scripts(words: &[String], from: usize) -> Vec<(usize, &str)> {
    let (mut scripts, mut operands, mut has_script, mut is_end) = (Vec::new(), Vec::new(), false, false);
    let mut first_script = 0;
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
        if matches!(letter, 'e' | 'f') && !std::mem::replace(&mut has_script, true) {
            first_script = at;
        }
        // A value that is not in the word is the next word.
        let is_next = value.is_none()
            && (matches!(letter, 'e' | 'f')
                || letter == 'l' && words.get(at + 1).is_some_and(|next| is_number(next)));
        at += usize::from(is_next);
        let value = value.or_else(|| words.get(at).map(String::as_str));
        if let ('e', Some(value)) = (letter, value) {
            scripts.push((at, value));
        }
        at += 1;
    }
    if has_script {
        // Where options end at the first operand, that is the script.
        scripts
            .extend(operands.first().filter(|(at, ..)| *at < first_script).map(|(at, text, _)| (*at, *text)));
        return scripts;
    }
    // BSD's `-i` takes the next word as a suffix of file names, and the script follows.
    let is_suffix = |text: &str| {
        let is_name = !text.starts_with(|first: char| first.is_ascii_digit());
        text.is_empty()
            || is_name && text.chars().all(|letter| letter.is_alphanumeric() || ".~_".contains(letter))
    };
    let count = match operands.first() {
        Some((_, text, true)) if is_suffix(text) => 2,
        _ => 1,
    };
    operands.into_iter().take(count).map(|(at, text, _)| (at, text)).collect()
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
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
    for (at, letter) in option.char_indices().filter(|(_, letter)| "efliI".contains(*letter)) {
        let rest = &option[at + 1..];
        // In BSD, `-l` has no value, and another option may follow.
        if letter != 'l' || is_number(rest) {
            return (letter, (!rest.is_empty()).then_some(rest));
        }
    }
    (' ', None)
}

/// Returns whether a script has only commands that neither run programs nor write files. Returns false for comments, control
/// characters and long scripts, of which BSD reads 2,048 bytes as a line.
fn only_edits(script: &str) -> bool {
    let is_control = |next: char| next.is_control() && !matches!(next, '\n' | '\t');
    if script.len() > LENGTH_LIMIT || script.contains(is_control) {
        return false;
    }
    // A letter is never a delimiter.
    let script =
        CLASSES.iter().fold(script.to_owned(), |script, class| script.replace(&format!("[:{class}:]"), "a"));
    let mut rest = script.as_str();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        match after_command(rest) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
}

/// Returns the rest after a command that only edits and that all versions end at the same place.
fn after_command(script: &str) -> Option<&str> {
    let mut script = after_address(script)?.trim_start_matches(' ');
    if let Some(second) = script.strip_prefix(',') {
        script = after_address(second.trim_start_matches(' '))?;
    }
    let mut rest = script.trim_start_matches([' ', '!']).chars();
    let (command, rest) = (rest.next()?, rest.as_str());
    let rest = match command {
        '{' => return Some(rest),
        // They end with the line.
        'r' | 'R' | 'a' | 'i' | 'c' => return Some(rest.find('\n').map_or("", |end| &rest[end..])),
        's' | 'y' => {
            let delimiter = rest.chars().next()?;
            let replacement = after_expression(&rest[delimiter.len_utf8()..], delimiter)?;
            let is_flag = |flag: char| flag.is_ascii_digit() || "gpiImM".contains(flag);
            after_expression(replacement, delimiter)?.trim_start_matches(is_flag)
        }
        ':' | 'b' | 't' | 'T' => {
            rest.trim_start_matches(' ').trim_start_matches(|next: char| next.is_ascii_alphanumeric())
        }
        'q' | 'Q' | 'l' | 'L' => rest.trim_start_matches(|next: char| next == ' ' || next.is_ascii_digit()),
        '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => rest,
        _ => return None,
    };
    // Behind a command, some versions read on: flags behind spaces, and labels with any character.
    let end = rest.trim_start_matches([' ', '}']);
    (end.is_empty() || end.starts_with([';', '\n'])).then_some(rest)
}

/// Returns the rest after an optional address.
fn after_address(script: &str) -> Option<&str> {
    let (delimiter, expression) = match script.strip_prefix('\\') {
        Some(rest) => (rest.chars().next()?, rest.get(1..)?),
        None if script.starts_with('/') => ('/', &script[1..]),
        None => {
            return Some(
                script.trim_start_matches(|next: char| next.is_ascii_digit() || "$~+".contains(next)),
            );
        }
    };
    Some(after_expression(expression, delimiter)?.trim_start_matches(['I', 'M']))
}

/// Returns the rest after an expression and its delimiter.
///
/// Versions of sed differ in whether a delimiter within brackets ends an expression and whether a backslash escapes there. Brackets
/// with a delimiter, another bracket, or a backslash before anything but a letter are therefore refused.
fn after_expression(text: &str, delimiter: char) -> Option<&str> {
    if !delimiter.is_ascii_punctuation() || "[]:\\".contains(delimiter) {
        return None;
    }
    let mut rest = text.chars();
    loop {
        match rest.next()? {
            next if next == delimiter => return Some(rest.as_str()),
            '\n' => return None,
            '\\' => drop(rest.next().filter(|escaped| *escaped != '\n')?),
            '[' => {
                let (set, behind) = rest.as_str().split_once(']')?;
                let set = set.strip_prefix('^').unwrap_or(set);
                let is_letter_next = |after: &str| after.starts_with(|next: char| next.is_ascii_alphabetic());
                if set.is_empty()
                    || set.contains([delimiter, '[', '\n'])
                    || !set.split('\\').skip(1).all(is_letter_next)
                {
                    return None;
                }
                rest = behind.chars();
            }
            _ => {}
        }
    }
}
