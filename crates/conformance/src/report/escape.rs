//! Text of a subject within XML and HTML.

/// Text escaped for XML, also within quotation marks. Control characters have no form in XML and are left out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            '\u{fffe}' | '\u{ffff}' => {}
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}
