//! Reads command lines without a shell: words, quotes and backslashes as in a POSIX shell, `~`, and variables.

use std::env;
use std::iter::Peekable;
use std::path::PathBuf;
use std::str::Chars;

use agentwire_jsonrpc::nearest;
use agentwire_mcp_hub::Target;
use agentwire_transport_http::client::shown_url;
use agentwire_transport_stdio::Command;

use crate::output::text::one_line;

/// An unreadable command line. The message quotes only a variable's name, because the line may have secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandLineError {
    #[error("the command line is empty")]
    Empty,
    #[error("a quote in the command line is not closed")]
    Unclosed,
    #[error("`${0}` in the command line is not set; in single quotes it stays as it is")]
    Unset(String),
    #[error("`${{` in the command line is not a variable: write ${{NAME}}, or put it in single quotes")]
    NoVariable,
}

/// Reads a command line, with our environment's variables.
pub(crate) fn parse(line: &str) -> Result<Command, CommandLineError> {
    let mut words = words(line)?.into_iter();
    let program = words.next().ok_or(CommandLineError::Empty)?;
    Ok(Command::new(program).args(words))
}

/// The words of a command line, with our environment's variables.
pub(crate) fn words(line: &str) -> Result<Vec<String>, CommandLineError> {
    split(line, &variable)
}

/// Reads a URL or a command line.
pub(crate) fn target(text: &str) -> Result<Target, String> {
    let text = text.trim();
    if let Some(why) = other_scheme(text) {
        return Err(why);
    }
    if is_url(text) {
        Target::parse(text).map_err(|why| why.to_string())
    } else {
        parse(text).map(Target::from).map_err(|why| why.to_string())
    }
}

/// Whether a text begins as a URL does.
pub(crate) fn is_url(text: &str) -> bool {
    let begins =
        |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("http://") || begins("https://")
}

/// The error for a word that begins like a URL of another scheme: `ws://…`, `htp://…`, `http:/…`. Leaves out the query, which may
/// be secret.
pub(crate) fn other_scheme(text: &str) -> Option<String> {
    if let Some((scheme, rest)) = text.split_once("//")
        && ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme))
        && !text.contains(char::is_whitespace)
    {
        let place = one_line(&shown_url(&format!("{}://{rest}", scheme.to_ascii_lowercase())));
        return Some(format!("the URL has no colon; write {place}"));
    }
    let (scheme, rest) = text.split_once(":/")?;
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    // One letter is a drive of Windows.
    if scheme.len() < 2
        || !scheme.bytes().all(is_scheme)
        || is_url(text)
        || text.contains(char::is_whitespace)
    {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let meant = match &*scheme {
        "ws" => Some("http"),
        "wss" => Some("https"),
        scheme => nearest(scheme, ["https", "http"]),
    };
    if scheme == "file" {
        let path = one_line(rest.trim_start_matches('/'));
        return Some(format!(
            "`file:` is not the URL of an MCP server; a file is given by its path: /{path}"
        ));
    }
    let place = one_line(&shown_url(&format!("http://{}", rest.trim_start_matches('/'))));
    let advice = match (meant, place.strip_prefix("http://")) {
        (Some(meant), Some(place)) => format!("write {meant}://{place}"),
        _ => "write http://… or https://…".to_owned(),
    };
    Some(match &*scheme {
        "http" | "https" => format!("the URL has one slash where it needs two; {advice}"),
        _ => format!("`{scheme}:` is not the URL of an MCP server; {advice}"),
    })
}

/// A variable of our environment. `HOME` is the user's folder on every system. A relative one counts as not set, because
/// `~/bin/agent` would be another program in each folder.
fn variable(name: &str) -> Option<String> {
    if name != "HOME" {
        return env::var(name).ok();
    }
    let home = env::var_os(name).filter(|home| !home.is_empty()).map(PathBuf::from).or_else(env::home_dir)?;
    home.is_absolute().then(|| home.into_os_string().into_string().ok())?
}

/// The words of a command line.
fn split(line: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<String>, CommandLineError> {
    let mut reader = Reader { rest: line.chars().peekable(), variable };
    let mut words = Vec::new();
    while let Some(word) = reader.word()? {
        words.push(word);
    }
    Ok(words)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    /// The next word. `None` at the end of the line or at a comment.
    fn word(&mut self) -> Result<Option<String>, CommandLineError> {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
        let mut word = match self.rest.peek() {
            None | Some('#') => return Ok(None),
            Some('~') => self.home()?,
            Some(_) => String::new(),
        };
        while let Some(c) = self.rest.next_if(|c| !c.is_whitespace()) {
            match c {
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '$' => self.variable(&mut word)?,
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(c) => word.push(c),
                    None => word.push('\\'),
                },
                c => word.push(c),
            }
        }
        Ok(Some(word))
    }

    /// `~` alone or before `/` is the user's folder. That of another user is not looked up: `~name` stays.
    fn home(&mut self) -> Result<String, CommandLineError> {
        self.rest.next();
        match self.rest.peek() {
            None | Some('/') => self.value("HOME"),
            Some(c) if c.is_whitespace() => self.value("HOME"),
            Some(_) => Ok("~".into()),
        }
    }

    fn single_quoted(&mut self, word: &mut String) -> Result<(), CommandLineError> {
        loop {
            match self.rest.next().ok_or(CommandLineError::Unclosed)? {
                '\'' => return Ok(()),
                c => word.push(c),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut String) -> Result<(), CommandLineError> {
        loop {
            match self.rest.next().ok_or(CommandLineError::Unclosed)? {
                '"' => return Ok(()),
                '$' => self.variable(word)?,
                '\\' => match self.rest.next().ok_or(CommandLineError::Unclosed)? {
                    '\n' => {}
                    c @ ('$' | '`' | '"' | '\\') => word.push(c),
                    c => word.extend(['\\', c]),
                },
                c => word.push(c),
            }
        }
    }

    /// Reads `NAME` or `{NAME}` after `$` and appends the value of the variable. A `$` before anything else stays.
    fn variable(&mut self, word: &mut String) -> Result<(), CommandLineError> {
        let is_braced = self.rest.next_if_eq(&'{').is_some();
        let mut name = String::new();
        let is_part = |c: &char, is_first: bool| {
            c.is_ascii_alphabetic() || *c == '_' || !is_first && c.is_ascii_digit()
        };
        while let Some(c) = self.rest.next_if(|c| is_part(c, name.is_empty())) {
            name.push(c);
        }
        if is_braced && (name.is_empty() || self.rest.next() != Some('}')) {
            return Err(CommandLineError::NoVariable);
        }
        if name.is_empty() {
            word.push('$');
        } else {
            word.push_str(&self.value(&name)?);
        }
        Ok(())
    }

    fn value(&self, name: &str) -> Result<String, CommandLineError> {
        (self.variable)(name).ok_or_else(|| CommandLineError::Unset(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<String>, CommandLineError> {
        split(line, &|name| match name {
            "HOME" => Some("/home/ann lee".into()),
            "KEY_1" => Some("it's \"$x\"".into()),
            _ => None,
        })
    }

    #[test]
    fn a_line_is_read_as_a_shell_reads_it() {
        let rows: [(&str, &[&str]); 16] = [
            ("", &[]),
            ("  npx  -y\tserver\n", &["npx", "-y", "server"]),
            ("a'b c'\"d e\"f\\ g", &["ab cd ef g"]),
            ("'' \"\"", &["", ""]),
            ("'$HOME ~ \\n' \"a\\$HOME \\\" \\n\"", &["$HOME ~ \\n", "a$HOME \" \\n"]),
            ("a\\\nb", &["ab"]),
            ("a # b", &["a"]),
            ("a#b", &["a#b"]),
            (
                "~/bin ~ a~ ~ann '~' x=~/y",
                &["/home/ann lee/bin", "/home/ann lee", "a~", "~ann", "~", "x=~/y"],
            ),
            ("$HOME/x \"${HOME}x\"", &["/home/ann lee/x", "/home/ann leex"]),
            // A value is neither split nor read again.
            ("--key=$KEY_1", &["--key=it's \"$x\""]),
            ("$ $1 $$ $(id) a$", &["$", "$1", "$$", "$(id)", "a$"]),
            ("\\$HOME", &["$HOME"]),
            ("a\\", &["a\\"]),
            ("sh -c 'echo $i | cat > /dev/null; x'", &["sh", "-c", "echo $i | cat > /dev/null; x"]),
            ("grüß 漢字", &["grüß", "漢字"]),
        ];
        for (line, expected) in rows {
            assert_eq!(
                read(line).as_deref(),
                Ok(&*expected.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{line}"
            );
        }
    }

    #[test]
    fn a_url_of_another_scheme_is_not_a_command() {
        let rows = [
            ("https//a.example", "the URL has no colon; write https://a.example"),
            (
                "ws://a.example/mcp?key=abc",
                "`ws:` is not the URL of an MCP server; write http://a.example/mcp",
            ),
            ("WSS://a.example", "`wss:` is not the URL of an MCP server; write https://a.example"),
            ("htps://a.example", "`htps:` is not the URL of an MCP server; write https://a.example"),
            ("ftp://a.example", "`ftp:` is not the URL of an MCP server; write http://… or https://…"),
            (
                "file:///a/b.json:name",
                "`file:` is not the URL of an MCP server; a file is given by its path: /a/b.json:name",
            ),
            ("stdio://server", "`stdio:` is not the URL of an MCP server; write http://… or https://…"),
            (
                "http:/localhost:1/mcp",
                "the URL has one slash where it needs two; write http://localhost:1/mcp",
            ),
            ("HTTP//localhost:1/mcp?key=abc", "the URL has no colon; write http://localhost:1/mcp"),
        ];
        for (text, expected) in rows {
            assert_eq!(target(text).unwrap_err(), expected, "{text}");
        }
        for text in
            ["server --at ws://a", "C:/server", "a=b://c", "./a:/b", "http://a.example", "http/a", "a//b"]
        {
            assert_eq!(other_scheme(text), None, "{text}");
        }
    }

    #[test]
    fn a_malformed_line_is_refused() {
        use CommandLineError::{Empty, NoVariable, Unclosed, Unset};
        let rows = [
            ("'", Unclosed),
            ("a \"b", Unclosed),
            ("\"\\", Unclosed),
            ("$NONE", Unset("NONE".into())),
            ("\"${NONE_2}\"", Unset("NONE_2".into())),
            ("${NONE-x}", NoVariable),
            ("${}", NoVariable),
            ("${1}", NoVariable),
        ];
        for (line, error) in rows {
            assert_eq!(read(line), Err(error), "{line}");
        }
        assert_eq!(parse(" ").unwrap_err(), Empty);
        let unset = Unset("NONE".into()).to_string();
        assert_eq!(unset, "`$NONE` in the command line is not set; in single quotes it stays as it is");
    }
}
