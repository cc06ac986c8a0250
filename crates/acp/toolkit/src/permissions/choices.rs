//! The menu of a permission request, as text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use agentwire_acp_schema::v1::{
    ContentBlock, PermissionOptionId, PermissionOptionKind, RequestPermissionRequest,
    RequestPermissionResponse, ToolCallContent, ToolCallLocation, ToolCallUpdate,
};
use agentwire_jsonrpc::{Printable, RawJson, RawObject};

/// How many characters of a title, an input or a text are shown. The number of the others is shown after them.
const SHOWN: usize = 2000;

/// How many characters of an option's name or a path are shown.
const SHOWN_OF_NAME: usize = 200;

/// How many characters of the title are shown in the prompt line of a long menu.
const SHOWN_IN_PROMPT: usize = 60;

/// The most options of a menu whose prompt line does not repeat the title.
const SHORT_MENU: usize = 9;

/// How many locations are shown, and how many changes and texts.
const LIST_LIMIT: usize = 5;

/// How many options can be selected.
const MAX_OPTIONS: usize = 1000;

/// A permission request as a menu. Its [`Display`](fmt::Display) is the text to show, [`prompt`](Self::prompt) is the
/// prompt line, and [`select`](Self::select) parses the user's input.
///
/// Options are numbered from 1; those after the thousandth are not offered. The kind of an option precedes its name, since
/// the agent chooses the name, which may be misleading. The first option of each kind can also be selected by a letter or
/// by these words:
///
/// | kind | letter | words |
/// |---|---|---|
/// | `allow_once` | `a` | `allow once` |
/// | `allow_always` | `A` | `allow always` |
/// | `reject_once` | `r` | `reject once` |
/// | `reject_always` | `R` | `reject always` |
///
/// The title is right above the options. A command, a text or a path that the title names is not repeated. An option such
/// as `Always allow: TITLE` is shown as `Always allow: this call`. Five locations, five changes and five texts of the
/// call are shown, and the rest are counted. The agent's texts are [`Printable`] and on one line each, so they cannot
/// imitate a menu.
///
/// ```
/// use agentwire_acp_schema::v1::{
///     PermissionOption, PermissionOptionKind, RequestPermissionRequest, RequestPermissionResponse,
///     ToolCallUpdate,
/// };
/// use agentwire_acp_toolkit::Choices;
///
/// let call = ToolCallUpdate::new("call-1").title("Delete notes.txt");
/// let options = [
///     PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
///     PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
/// ];
/// let choices = Choices::new(&RequestPermissionRequest::new("session-1", call, options));
/// assert!(choices.to_string().ends_with(
///     "  Delete notes.txt\n  1) allow once (a): Yes\n  2) reject once (r): No\n",
/// ));
/// assert_eq!(choices.select("2"), Some(RequestPermissionResponse::selected("no")));
/// assert_eq!(choices.select("r"), choices.select("reject once"));
/// assert_eq!(choices.select("maybe"), None);
/// ```
#[derive(Clone, Debug)]
pub struct Choices {
    subject: String,
    prompt: String,
    options: Vec<Choice>,
    /// How many options are left out.
    left_out: usize,
}

#[derive(Clone, Debug)]
struct Choice {
    id: PermissionOptionId,
    name: String,
    kind: String,
    /// The letter and the words that select it, if it is the first of its kind.
    keys: Option<[&'static str; 2]>,
}

impl Choices {
    /// Makes the menu for a request.
    pub fn new(request: &RequestPermissionRequest) -> Self {
        let call = &request.tool_call;
        let title = call.title.as_deref().unwrap_or("(a tool call without a title)");
        let mut options: Vec<Choice> = Vec::new();
        for option in request.options.iter().take(MAX_OPTIONS) {
            let known = keys(&option.kind);
            let kind = match known {
                Some([_, words]) => words.to_owned(),
                None => format!("unknown kind {}", shown(option.kind.as_str(), SHOWN_OF_NAME)),
            };
            let keys = known.filter(|keys| !options.iter().any(|other| other.keys == Some(*keys)));
            let name = match option.name.strip_suffix(title) {
                Some(rest) if !title.is_empty() && rest.ends_with(": ") => {
                    shown(&format!("{rest}this call"), SHOWN_OF_NAME)
                }
                _ => shown(&option.name, SHOWN_OF_NAME),
            };
            options.push(Choice { id: option.option_id.clone(), name, kind, keys });
        }
        let letters: Vec<_> = options.iter().filter_map(|option| option.keys).map(|[key, _]| key).collect();
        let numbers = if options.len() > 1 { format!("1-{}", options.len()) } else { "1".to_owned() };
        let answers = [&[&*numbers], &*letters].concat().join(", ");
        let subject =
            (options.len() > SHORT_MENU).then(|| format!("{}: type", shown(title, SHOWN_IN_PROMPT)));
        let begin = subject.as_deref().unwrap_or("Type");
        Self {
            subject: format!("{}  {}\n", details(call), shown(title, SHOWN)),
            prompt: format!("{begin} {answers}, then Enter: "),
            options,
            left_out: request.options.len().saturating_sub(MAX_OPTIONS),
        }
    }

    /// Returns whether there are no options.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty()
    }

    /// Returns the prompt line: the possible inputs, and above nine options the title again.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Returns the answer for a line of input: an option's number, letter or words. `None` for any other line. Surrounding
    /// spaces are ignored.
    pub fn select(&self, line: &str) -> Option<RequestPermissionResponse> {
        let line = line.trim();
        let is_number = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let index = is_number.then(|| line.parse::<usize>().ok()?.checked_sub(1)).flatten();
        let numbered = index.and_then(|index| self.options.get(index));
        let lettered =
            self.options.iter().find(|choice| choice.keys.is_some_and(|keys| keys.contains(&line)));
        lettered.or(numbered).map(|choice| RequestPermissionResponse::selected(&choice.id))
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The agent asks for permission:")?;
        f.write_str(&self.subject)?;
        for (index, choice) in self.options.iter().enumerate() {
            write!(f, "{:>3}) {}", index + 1, choice.kind)?;
            if let Some([letter, _]) = choice.keys {
                write!(f, " ({letter})")?;
            }
            writeln!(f, ": {}", choice.name)?;
        }
        match self.left_out {
            0 => Ok(()),
            count => writeln!(f, "  … {count} options more, which are not offered"),
        }
    }
}

/// Returns the letter and the description of a kind.
fn keys(kind: &PermissionOptionKind) -> Option<[&'static str; 2]> {
    match kind {
        PermissionOptionKind::AllowOnce => Some(["a", "allow once"]),
        PermissionOptionKind::AllowAlways => Some(["A", "allow always"]),
        PermissionOptionKind::RejectOnce => Some(["r", "reject once"]),
        PermissionOptionKind::RejectAlways => Some(["R", "reject always"]),
        _ => None,
    }
}

/// Describes the call beside its title, one detail a line.
fn details(call: &ToolCallUpdate) -> String {
    let mut text = String::new();
    if let Some(name) = &call.name {
        line(&mut text, "tool", &shown(name, SHOWN_OF_NAME));
    }
    if let Some(kind) = &call.kind {
        line(&mut text, "kind", &shown(kind.as_str(), SHOWN_OF_NAME));
    }
    let title = call.title.as_deref().unwrap_or_default();
    let changed: Vec<&Path> = call.content.iter().flatten().filter_map(changed_path).collect();
    // A path is shown once: in the title, as a change, or as a location.
    let known: HashSet<&Path> = changed.iter().copied().collect();
    let is_new = |location: &&ToolCallLocation| {
        location.line.is_some() || !(known.contains(&*location.path) || names_path(title, &location.path))
    };
    let places = call.locations.iter().flatten().filter(is_new).map(|location| {
        let path = shown(&location.path.to_string_lossy(), SHOWN_OF_NAME);
        location.line.map_or(path.clone(), |number| format!("{path}:{number}"))
    });
    folded(&mut text, "at", places);
    let changes = changed.iter().filter(|path| !names_path(title, path));
    folded(&mut text, "changes", changes.map(|path| shown(&path.to_string_lossy(), SHOWN_OF_NAME)));
    let texts = call.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) if !names(title, bare(&text.text)) => Some(shown(&text.text, SHOWN)),
            _ => None,
        },
        _ => None,
    });
    folded(&mut text, "says", texts);
    if let Some(input) = call.raw_input.as_ref().and_then(|input| unnamed(title, input)) {
        line(&mut text, "input", &shown(&input.plain(), SHOWN));
    }
    text
}

/// The members of an input whose values are clear without the member's name, unlike a flag.
const SUBJECTS: [&str; 6] = ["command", "cmd", "path", "file_path", "filePath", "url"];

/// Returns the input without the [`SUBJECTS`] that the title names, or `None` if no other member is left.
fn unnamed<'a>(title: &str, input: &'a RawJson) -> Option<Cow<'a, RawJson>> {
    let Ok(members) = RawObject::try_from(input.clone()) else { return Some(Cow::Borrowed(input)) };
    // A longer value cannot fit into the searched part of the title: a character takes up to 12 bytes of JSON.
    let is_short = |value: &RawJson| value.len() <= 12 * SHOWN_OF_NAME + 2;
    let is_named = |(name, value): &(Cow<'_, str>, RawJson)| {
        SUBJECTS.contains(&&**name)
            && is_short(value)
            && value.decode::<String>().is_ok_and(|text| names(title, &text))
    };
    let named = members.iter().filter(is_named).count();
    match members.iter().count() - named {
        _ if named == 0 => Some(Cow::Borrowed(input)),
        0 => None,
        _ => {
            let left: RawObject = members.iter().filter(|member| !is_named(member)).collect();
            Some(Cow::Owned(left.into()))
        }
    }
}

/// Returns a text without the marks of Markdown for code around it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let body = fenced.map(|text| text.split_once('\n').map_or(text, |(_, body)| body));
    body.unwrap_or(text).trim_matches('`').trim()
}

fn changed_path(content: &ToolCallContent) -> Option<&Path> {
    match content {
        ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    }
}

/// Returns whether the title of a tool call names this path, and not a longer one, in its first 200 characters. A view that
/// shows the title need not show the path again.
///
/// ```
/// use std::path::Path;
///
/// use agentwire_acp_toolkit::names_path;
///
/// assert!(names_path("Edit `/repo/a.txt`", Path::new("/repo/a.txt")));
/// assert!(!names_path("Edit /repo/a.txt.bak", Path::new("/repo/a.txt")));
/// ```
pub fn names_path(title: &str, path: &Path) -> bool {
    path.to_str().is_some_and(|path| names(title, path))
}

/// Returns whether the beginning of the title contains this text as whole words.
fn names(title: &str, text: &str) -> bool {
    let title = title.char_indices().nth(SHOWN_OF_NAME).map_or(title, |(end, _)| &title[..end]);
    let ends = |character: char| {
        character.is_whitespace() || matches!(character, '`' | '"' | '\'' | '(' | ')' | ':' | ',')
    };
    // The title is shown on one line, so a text of several lines is not the same.
    let is_line = !text.is_empty() && !text.contains(['\n', '\r']);
    is_line
        && title.match_indices(text).any(|(start, _)| {
            let (before, after) =
                (title[..start].chars().next_back(), title[start + text.len()..].chars().next());
            before.is_none_or(ends) && after.is_none_or(ends)
        })
}

/// Writes the first items, one a line, and the number of the others.
fn folded(text: &mut String, label: &str, mut things: impl Iterator<Item = String>) {
    for thing in things.by_ref().take(LIST_LIMIT) {
        line(text, label, &thing);
    }
    match things.count() {
        0 => {}
        more => line(text, label, &format!("… and {more} more")),
    }
}

fn line(text: &mut String, label: &str, value: &str) {
    text.push_str(&format!("  {label}: {value}\n"));
}

/// Returns the first characters of a text, on one line.
fn shown(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let start = Printable::one_line(&text[..end]);
    match text[end..].chars().count() {
        0 => start.to_string(),
        more => format!("{start}… ({more} characters more)"),
    }
}
