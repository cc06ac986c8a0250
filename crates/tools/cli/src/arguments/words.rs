//! The arguments of a tool as the command line has them: `NAME=VALUE`, `NAME:=JSON`, `NAME@FILE`, `@FILE`, `-`, or a JSON
//! object. Together they make one object.
//!
//! If a name is repeated and one of the two comes from an object, the later one counts. Any other repeated name is refused, except
//! for the elements of a list.

use std::io::{self, Read as _};
use std::path::Path;

use agentwire_jsonrpc::{RawJson, RawObject};

use crate::arguments::files::{ReadError, read_text};
use crate::arguments::values::json_object;
use crate::failure::Usage;
use crate::output::text::quoted;

/// The longest file of arguments, and the longest stdin: 32 MiB.
const FILE_LIMIT: u64 = 32 << 20;

/// The arguments of a tool or a prompt on the command line.
pub(crate) enum Arguments {
    /// One object, which is sent as it is.
    Object(RawJson),
    /// Members, possibly none. The schema gives some of them their type.
    Members(Vec<Word>),
}

/// One word of the command line.
pub(crate) enum Word {
    /// A member, and where its text comes from.
    Text { name: String, text: String, source: Source },
    /// A member with a value.
    Json { name: String, value: RawJson },
    /// All members of an object.
    Object(RawObject),
}

/// Where the text of an argument comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    CommandLine,
    /// A file, whose text is not repeated in errors.
    File,
}

impl Arguments {
    /// Reads the words, and the files that they name.
    ///
    /// # Errors
    ///
    /// [`Usage`] if a word is not an argument, or a file cannot be read.
    pub(crate) fn read(words: &[String]) -> Result<Self, Usage> {
        let mut stdin = Some(io::stdin());
        let words = words.iter().map(|word| Word::read(word, || stdin.take()));
        let words = words.collect::<Result<Vec<_>, _>>()?;
        Ok(match <[Word; 1]>::try_from(words) {
            Ok([Word::Object(object)]) => Self::Object(object.into()),
            Ok(words) => Self::Members(words.into()),
            Err(words) => Self::Members(words),
        })
    }
}

/// Whether a word is meant as JSON, right or wrong.
fn is_json(word: &str) -> bool {
    word.trim_start().starts_with(['{', '['])
}

impl Word {
    fn read(word: &str, stdin: impl FnOnce() -> Option<io::Stdin>) -> Result<Self, Usage> {
        if is_json(word) {
            return object(word)
                .map_err(|why| Usage(format!("{why}; write NAME=VALUE, NAME:=JSON, or a JSON object")));
        }
        if word == "-" {
            let stdin =
                stdin().ok_or_else(|| Usage("`-` stands for stdin, which can be read only once".into()))?;
            let text = read_stdin(stdin).map_err(|why| Usage(format!("stdin: {why}")))?;
            return object(&text).map_err(|why| Usage(format!("stdin: {why}")));
        }
        if let Some(path) = word.strip_prefix('@') {
            let text = read_file(path)?;
            return object(&text).map_err(|why| Usage(format!("{path}: {why}")));
        }
        let Some((at, operator)) = word.char_indices().find(|(_, c)| matches!(c, '=' | '@')) else {
            return Err(no_argument(word));
        };
        let (name, rest) = (&word[..at], &word[at + 1..]);
        match (operator, name.strip_suffix(':')) {
            (_, Some("")) | (_, None) if name.is_empty() || name == ":" => Err(no_argument(word)),
            ('=', Some(name)) => {
                let value = RawJson::parse(rest.to_owned().into());
                let value =
                    value.map_err(|why| Usage(format!("argument {}: not JSON: {why}", quoted(name))))?;
                Ok(Self::Json { name: name.into(), value })
            }
            ('=', None) => {
                Ok(Self::Text { name: name.into(), text: rest.into(), source: Source::CommandLine })
            }
            _ => Ok(Self::Text { name: name.into(), text: read_file(rest)?, source: Source::File }),
        }
    }
}

/// Whether a word has the form of an argument, whatever its value or its file.
pub(crate) fn is_argument(word: &str) -> bool {
    let at = word.find(['=', '@']);
    is_json(word)
        || word == "-"
        || at.is_some_and(|at| !matches!(&word[at..=at], "=" if at == 0 || &word[..at] == ":"))
}

/// The error for a name that two words have.
pub(crate) fn twice(name: &str) -> Usage {
    Usage(format!("argument {} is given twice", quoted(name)))
}

fn no_argument(word: &str) -> Usage {
    Usage(format!(
        "{} is not an argument: write NAME=VALUE, NAME:=JSON, NAME@FILE, @FILE, or -",
        quoted(word)
    ))
}

fn object(text: &str) -> Result<Word, String> {
    let object = json_object(text)?;
    RawObject::try_from(object).map(Word::Object).map_err(|why| why.to_string())
}

/// The text of a file that a word names. `~` of a path behind `@` is not expanded by a shell.
pub(crate) fn read_file(path: &str) -> Result<String, Usage> {
    let home = path.strip_prefix("~/").and_then(|rest| Some(std::env::home_dir()?.join(rest)));
    let file = home.unwrap_or_else(|| Path::new(path).to_owned());
    read_text(&file, FILE_LIMIT).map_err(|why| Usage(format!("{path}: {why}")))
}

/// All of stdin.
pub(crate) fn read_stdin(stdin: io::Stdin) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    stdin.lock().take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(ReadError::TooLong(FILE_LIMIT));
    }
    String::from_utf8(bytes).map_err(|_| ReadError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_of_an_argument_does_not_depend_on_its_value() {
        for word in ["a=", "a:=no json", "a@/no/such", "@/no/such", "-", "{no json"] {
            assert!(is_argument(word), "{word}");
        }
        for word in ["-y", "server", "=2", ":=2"] {
            assert!(!is_argument(word), "{word}");
        }
    }

    /// A word as `NAME SOURCE VALUE`.
    fn read(word: &str) -> Result<String, String> {
        match Word::read(word, || None) {
            Ok(Word::Text { name, text, source }) => Ok(format!("{name} {source:?} {text}")),
            Ok(Word::Json { name, value }) => Ok(format!("{name} {}", value.as_str())),
            Ok(Word::Object(object)) => Ok(object.as_str().to_owned()),
            Err(Usage(why)) => Err(why),
        }
    }

    #[test]
    fn words_are_read_by_their_first_operator() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a=b.json");
        std::fs::write(&path, "{\"x\": 1.10}").unwrap();
        let path = path.to_str().unwrap();
        let rows = [
            ("a=2", "a CommandLine 2"),
            ("a=", "a CommandLine "),
            ("a:=40", "a 40"),
            ("a:=[1, 2]", "a [1, 2]"),
            ("url=http://u@h/?a:=b", "url CommandLine http://u@h/?a:=b"),
            ("a:b=c", "a:b CommandLine c"),
        ];
        for (word, expected) in rows {
            assert_eq!(read(word).as_deref(), Ok(expected), "{word}");
        }
        assert_eq!(read(&format!("note@{path}")).unwrap(), "note File {\"x\": 1.10}");
        assert_eq!(read(&format!("@{path}")).unwrap(), "{\"x\": 1.10}");
        for word in ["a", "=2", ":=2"] {
            let why =
                format!("`{word}` is not an argument: write NAME=VALUE, NAME:=JSON, NAME@FILE, @FILE, or -");
            assert_eq!(read(word), Err(why));
        }
        assert!(read("a:=two").unwrap_err().starts_with("argument `a`: not JSON: "));
        assert!(read("a@/no/such/file").unwrap_err().starts_with("/no/such/file: it cannot be read: "));
        assert_eq!(read("-").unwrap_err(), "`-` stands for stdin, which can be read only once");
    }

    #[test]
    fn one_object_is_sent_as_it_is() {
        let arguments =
            |words: &[&str]| Arguments::read(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let text = r#"{"a": 123456789012345678901234567890}"#;
        assert!(matches!(arguments(&[text]), Ok(Arguments::Object(object)) if object.as_str() == text));
        assert!(matches!(arguments(&[]), Ok(Arguments::Members(words)) if words.is_empty()));
        assert!(matches!(arguments(&["a=1", "b=2"]), Ok(Arguments::Members(words)) if words.len() == 2));
        let object = r#"{"a": "x=1"}"#;
        let both = arguments(&[object, "b=2"]).ok();
        assert!(
            matches!(both, Some(Arguments::Members(words)) if matches!(&words[0], Word::Object(it) if it.as_str() == object))
        );
        for wrong in ["[1, 2]", "{"] {
            assert!(arguments(&[wrong]).is_err() && arguments(&["a=1", wrong]).is_err(), "{wrong}");
        }
        assert_eq!(read("a\nb\u{1b}").unwrap_err().lines().count(), 1);
    }
}
