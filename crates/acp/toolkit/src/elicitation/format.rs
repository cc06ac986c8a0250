//! Checks the formats of text fields.

use agentwire_acp_schema::v1::StringFormat;

/// Returns whether `text` has the format, or true for an unknown format.
pub(super) fn matches(format: &StringFormat, text: &str) -> bool {
    match format {
        StringFormat::Email => is_email(text),
        StringFormat::Uri => is_uri(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
        _ => true,
    }
}

/// Returns whether there is text before and after the last `@`. Only a message to an address can confirm it.
fn is_email(text: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !c.is_control();
    text.rsplit_once('@').is_some_and(|(name, host)| {
        let host_fits = !host.starts_with('.') && !host.ends_with('.') && !host.contains("..");
        !name.is_empty() && !host.is_empty() && host_fits && text.chars().all(plain)
    })
}

/// Returns whether the text is a scheme, a colon, and characters that RFC 3986 allows.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let escapes_fit = rest
        .split('%')
        .skip(1)
        .all(|escape| escape.len() >= 2 && escape.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()));
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    scheme_fits && escapes_fit && rest.chars().all(fits)
}

/// Returns whether the text is a `full-date` of RFC 3339.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) =
        (number(&bytes[..4]), number(&bytes[5..7]), number(&bytes[8..]))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Returns whether the text is a `date-time` of RFC 3339.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else { return false };
    if !is_date(date) || !time.is_ascii() {
        return false;
    }
    let time = time.as_bytes();
    let Some((b'T' | b't', time)) = time.split_first() else { return false };
    if !is_clock(time, 60) {
        return false;
    }
    let zone = match &time[8..] {
        [b'.', rest @ ..] => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &rest[digits..]
        }
        rest => rest,
    };
    match zone {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            number(&[*h1, *h2]).is_some_and(|hours| hours < 24)
                && number(&[*m1, *m2]).is_some_and(|minutes| minutes < 60)
        }
        _ => false,
    }
}

/// Returns whether the text begins with hours, minutes and seconds.
fn is_clock(time: &[u8], most_seconds: u32) -> bool {
    time.len() > 8
        && (time[2], time[5]) == (b':', b':')
        && number(&time[..2]).is_some_and(|hours| hours < 24)
        && number(&time[3..5]).is_some_and(|minutes| minutes < 60)
        && number(&time[6..8]).is_some_and(|seconds| seconds <= most_seconds)
}

fn number(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: StringFormat, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(matches(&format, text), "{text:?} is of the format {format}");
        }
        for text in bad {
            assert!(!matches(&format, text), "{text:?} is not of the format {format}");
        }
    }

    #[test]
    fn formats() {
        check(
            StringFormat::Email,
            &["a@b", "\"a@b\"@c.org", "ü@ä.de"],
            &["", "a", "@b", "a@", "a b@c", "a@.c", "a@b."],
        );
        let uris = ["https://a/b?c#d", "urn:x", "mailto:a@b", "a+b.c-1:%20"];
        check(StringFormat::Uri, &uris, &["", "a", "/a", "1a:b", "a:b c", "a:%2", "a:%zz", "a:ü", "a:%1ü"]);
        let dates = ["2026-12-31", "2024-02-29", "2000-02-29", "0000-01-01"];
        let no_dates = [
            "",
            "2026-13-01",
            "2026-00-01",
            "2026-04-31",
            "2023-02-29",
            "1900-02-29",
            "26-1-1",
            "2026-1-01",
            "2026-12-31 ",
            "+026-12-31",
            "2026-12-00",
            "ü026-12-3",
        ];
        check(StringFormat::Date, &dates, &no_dates);
        let times = ["2026-12-31T23:59:60Z", "2026-12-31t00:00:00.123z", "2026-12-31T00:00:00+23:59"];
        let no_times = [
            "",
            "2026-12-31",
            "2026-12-31T",
            "2026-12-31T24:00:00Z",
            "2026-12-31T00:00Z",
            "2026-12-31 00:00:00Z",
            "2026-12-31T00:00:00",
            "2026-12-31T00:00:00.Z",
            "2026-12-31T00:00:00+0100",
            "2026-12-31T00:00:00Zü",
            "2026-12-31T00:00:00+24:00",
        ];
        check(StringFormat::DateTime, &times, &no_times);
        check("zzz".into(), &["anything"], &[]);
    }
}
