//! Text of a subject within XML, HTML, Markdown, JSON and SARIF.

use agentwire_jsonrpc::Printable;

use super::limit::beginning;

/// Text escaped for XML and HTML, also within quotation marks. Characters that control a terminal or reorder text are shown as
/// [`Printable`] shows them; those that XML cannot have are left out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in Printable::new(text).to_string().chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text that viewers of SARIF make no link or mention of: a space parts each sign that begins one.
pub(super) fn without_links(text: &str) -> String {
    let text = Printable::one_line(text).to_string();
    text.replace("](", "] (").replace("://", ": //").replace("www.", "www .").replace('@', "@ ")
}

/// Text within a cell of a Markdown table: one line, not too long, without markup, links and mentions. Text that may be one of
/// these is a code span.
pub(super) fn cell(text: &str) -> String {
    let shown = beginning(text);
    let kept = shown.trim();
    if is_prose(kept) { kept.to_owned() } else { code_span(kept) }
}

/// Whether a text has letters, digits and a sentence's punctuation alone, and so no markup and no address.
fn is_prose(text: &str) -> bool {
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let is_plain = match character {
            ' ' | ',' | ';' | '(' | ')' | '\'' | '/' => true,
            // Within a word they may be part of an address.
            '.' | ':' => characters.peek().is_none_or(|next| *next == ' '),
            '-' => before == ' ',
            other => other.is_alphanumeric(),
        };
        if !is_plain {
            return false;
        }
        before = character;
    }
    true
}

/// A code span. Its fence is longer than each row of backticks in it.
fn code_span(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // A table needs a backslash before each bar. Renderers disagree about a bar that has one already, so a space parts them.
    let text = text.replace("\\|", "\\ |").replace('|', "\\|");
    let space = if longest > 0 || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
