//! Applies masks to places of a text. All places are found in the original text, so that no mask is searched for secrets.

use std::cmp::Reverse;
use std::ops::Range;

/// A place, and its mask.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) mask: Mask,
}

/// The replacement of a span.
#[derive(Debug)]
pub(super) enum Mask {
    /// This text.
    Text(String),
    /// A user, whose number is assigned only if the mask is shown.
    User,
}

/// The text with its masks. Overlapping places become one, with the mask of the first and longest. `user` returns the mask of a
/// user. `None` if there are no places.
pub(super) fn masked(
    text: &str,
    mut spans: Vec<Span>,
    mut user: impl FnMut(&str) -> String,
) -> Option<String> {
    if spans.is_empty() {
        return None;
    }
    spans.sort_by_key(|span| (span.range.start, Reverse(span.range.end)));
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for span in spans {
        if span.range.start >= end {
            out.push_str(&text[end..span.range.start]);
            match span.mask {
                Mask::Text(mask) => out.push_str(&mask),
                Mask::User => out.push_str(&user(&text[span.range.clone()])),
            }
        }
        end = end.max(span.range.end);
    }
    out.push_str(&text[end..]);
    Some(out)
}

/// The longest mask, in bytes.
const LONGEST_MASK: usize = 32;

/// The places of masks such as `«secret 1»` and `«home»`.
pub(super) fn masks(text: &str) -> Vec<Range<usize>> {
    let is_mask = |inner: &str| {
        let (kind, number) = inner.split_once(' ').unwrap_or((inner, "0"));
        matches!(kind, "secret" | "user" | "home" | "host")
            && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let found = text.match_indices('«').filter_map(|(start, open)| {
        let inner = start + open.len();
        let window = &text.as_bytes()[inner..text.len().min(inner + LONGEST_MASK)];
        let length = window.windows("»".len()).position(|bytes| bytes == "»".as_bytes())?;
        let end = inner + length;
        is_mask(text.get(inner..end)?).then_some(start..end + "»".len())
    });
    found.collect()
}
