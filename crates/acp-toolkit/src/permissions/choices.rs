use std::fmt;

use agentwire_acp_schema::v1::{
    PermissionOptionId, PermissionOptionKind, RequestPermissionRequest, RequestPermissionResponse,
    ToolCallContent, ToolCallUpdate,
};

/// How many characters of one thing are shown, before it says how many there are more.
const SHOWN: usize = 2000;

/// A permission request as a menu: its [`Display`](fmt::Display) is the text to show, and [`select`](Self::select)
/// reads the key that was pressed.
///
/// Options are numbered from 1. The first of each kind has a letter as well: `a` to allow once, `A` always, `r` to
/// reject once, `R` always. Nothing else selects anything, least of all an empty line.
///
/// What the agent wrote is shown without control characters and without those that reorder text, so that it
/// cannot draw a menu of its own.
#[derive(Clone, Debug)]
pub struct Choices {
    subject: String,
    options: Vec<Choice>,
}

#[derive(Clone, Debug)]
struct Choice {
    id: PermissionOptionId,
    name: String,
    letter: Option<&'static str>,
}

impl Choices {
    /// Makes the menu for a request.
    pub fn new(request: &RequestPermissionRequest) -> Self {
        let mut options: Vec<Choice> = Vec::new();
        for option in &request.options {
            let letter = letter(&option.kind).filter(|letter| {
                let taken = |other: &Choice| other.letter == Some(letter);
                !options.iter().any(taken)
            });
            options.push(Choice { id: option.option_id.clone(), name: plain(&option.name), letter });
        }
        Self { subject: subject(&request.tool_call), options }
    }

    /// Whether there is nothing to choose from.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty()
    }

    /// The answer that a number or a letter stands for. None if it stands for nothing; spaces around it do not
    /// matter.
    pub fn select(&self, key: &str) -> Option<RequestPermissionResponse> {
        let key = key.trim();
        let numbered = || key.parse::<usize>().ok()?.checked_sub(1).and_then(|index| self.options.get(index));
        let lettered = self.options.iter().find(|choice| choice.letter == Some(key));
        lettered.or_else(numbered).map(|choice| RequestPermissionResponse::selected(&choice.id))
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The agent asks for permission:")?;
        f.write_str(&self.subject)?;
        for (index, choice) in self.options.iter().enumerate() {
            write!(f, "{:>3}) {}", index + 1, choice.name)?;
            match choice.letter {
                Some(letter) => writeln!(f, " ({letter})")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

fn letter(kind: &PermissionOptionKind) -> Option<&'static str> {
    match kind {
        PermissionOptionKind::AllowOnce => Some("a"),
        PermissionOptionKind::AllowAlways => Some("A"),
        PermissionOptionKind::RejectOnce => Some("r"),
        PermissionOptionKind::RejectAlways => Some("R"),
        _ => None,
    }
}

/// What is known about the call, one thing a line.
fn subject(call: &ToolCallUpdate) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        text.push_str(&format!("  {label}{}\n", plain(value)));
    };
    line("", call.title.as_deref().unwrap_or("(a tool call without a title)"));
    if let Some(name) = &call.name {
        line("tool: ", name);
    }
    if let Some(kind) = &call.kind {
        line("kind: ", kind.as_str());
    }
    for location in call.locations.iter().flatten() {
        match location.line {
            Some(number) => line("at: ", &format!("{}:{number}", location.path.display())),
            None => line("at: ", &location.path.display().to_string()),
        }
    }
    for content in call.content.iter().flatten() {
        if let ToolCallContent::Diff(diff) = content {
            line("changes: ", &diff.path.display().to_string());
        }
    }
    if let Some(input) = &call.raw_input {
        line("input: ", &input.to_string());
    }
    text
}

/// Text that changes nothing but the place where it is shown.
fn plain(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).map(harmless).collect();
    let more = text.chars().skip(SHOWN).count();
    if more > 0 {
        shown.push_str(&format!("… ({more} characters more)"));
    }
    shown
}

fn harmless(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        // Marks, embeddings, overrides and isolates that turn the direction of writing, and what has no width.
        '\u{061c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}
