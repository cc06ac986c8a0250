//! Checks the formats of texts: e-mail, URI, date and date-time.

use agentwire_mcp_schema::StringFormat;

pub(super) fn fits(format: &StringFormat, text: &str) -> bool {
    match format {
        StringFormat::Email => is_email(text),
        StringFormat::Uri => is_uri(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
        _ => true,
    }
}

/// A name and a domain. Only a message to the address could show whether it exists.
fn is_email(text: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control());
    text.rsplit_once('@').is_some_and(|(name, place)| is_part(name) && is_part(place) && !place.contains('@'))
}

/// A scheme and a non-empty rest, in the characters of RFC 3986.
fn is_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let is_rest = |rest: &str| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c))
    };
    text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && is_rest(rest))
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// As in RFC 3339.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let Some(end) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (time, offset) = time.split_at(end);
    let is_offset = match offset.strip_prefix(['+', '-']) {
        Some(offset) => is_hour(offset),
        None => offset.len() == 1,
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = time.rsplit_once(':').is_some_and(|(hour, second)| {
        // A leap second has the number 60.
        is_hour(hour) && digits(second, 2).is_some_and(|second| second <= 60)
    });
    is_date(date) && is_time && is_fraction && is_offset
}

/// Hours and minutes.
fn is_hour(text: &str) -> bool {
    text.split_once(':').is_some_and(|(hour, minute)| {
        digits(hour, 2).is_some_and(|hour| hour < 24) && digits(minute, 2).is_some_and(|minute| minute < 60)
    })
}

/// The value of a text of exactly `count` digits.
fn digits(text: &str, count: usize) -> Option<u16> {
    let are_digits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let cases: [(StringFormat, &[&str], &[&str]); 4] = [
            (
                StringFormat::Email,
                &["ada@example.com", "a+b@[::1]", "\"a@b\"@example.com"],
                &["ada", "@example.com", "ada@", "a da@example.com", "ada@exa mple.com", ""],
            ),
            (
                StringFormat::Uri,
                &["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b.example"],
                &["example.com", "/a", ":a", "1a:b", "a:", "a:b c", "https://exa<mple"],
            ),
            (
                StringFormat::Date,
                &["2026-07-28", "2024-02-29", "2000-02-29"],
                &[
                    "2026-7-28",
                    "2026-02-29",
                    "1900-02-29",
                    "2026-13-01",
                    "2026-04-31",
                    "2026-01-00",
                    "26-01-01",
                    "",
                ],
            ),
            (
                StringFormat::DateTime,
                &["2026-07-28T12:00:00Z", "2026-07-28t12:00:00.5+02:00", "2016-12-31 23:59:60z"],
                &[
                    "2026-07-28",
                    "2026-07-28T12:00:00",
                    "2026-07-28T12:00Z",
                    "2026-07-28T24:00:00Z",
                    "2026-07-28T12:60:00Z",
                    "2026-07-28T12:00:00.Z",
                    "2026-07-28T12:00:00+2:00",
                    "2026-07-28T12:00:00Zz",
                    "2026-02-30T12:00:00Z",
                ],
            ),
        ];
        for (format, right, wrong) in cases {
            right.iter().for_each(|text| assert!(fits(&format, text), "{text} is of the format {format}"));
            wrong
                .iter()
                .for_each(|text| assert!(!fits(&format, text), "{text} is not of the format {format}"));
        }
    }
}
