//! Formats a peer's time for a person: in the local time zone, to the minute.

/// A time of RFC 3339 in the local time zone, or in UTC without the feature `editor`, which has the rules of time zones. Other
/// text stays unchanged.
pub(crate) fn local_time(time: &str) -> String {
    read(time).unwrap_or_else(|| time.to_owned())
}

#[cfg(feature = "editor")]
fn read(time: &str) -> Option<String> {
    let time = chrono::DateTime::parse_from_rfc3339(time).ok()?;
    Some(in_zone(&time.with_timezone(&chrono::Local)))
}

#[cfg(feature = "editor")]
fn in_zone<Z: chrono::TimeZone>(time: &chrono::DateTime<Z>) -> String {
    time.naive_local().format("%Y-%m-%d %H:%M").to_string()
}

#[cfg(not(feature = "editor"))]
fn read(time: &str) -> Option<String> {
    let (date, clock) = time.split_once('T')?;
    let is_utc = clock.ends_with('Z') && date.len() == 10 && clock.is_ascii();
    is_utc.then(|| Some(format!("{date} {} UTC", clock.get(..5)?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "editor")]
    #[test]
    fn time_is_shown_in_a_zone_to_the_minute() {
        use chrono::{DateTime, FixedOffset};
        let zone = FixedOffset::east_opt(2 * 3600).unwrap();
        let time = DateTime::parse_from_rfc3339("2026-11-29T23:17:26.246Z").unwrap();
        assert_eq!(in_zone(&time.with_timezone(&zone)), "2026-11-30 01:17");
        assert_eq!(local_time("2026-11-29T12:17:26.246Z").len(), "2026-11-29 12:17".len());
    }

    #[cfg(not(feature = "editor"))]
    #[test]
    fn time_is_shown_in_utc_to_the_minute() {
        assert_eq!(local_time("2026-11-29T12:17:26.246Z"), "2026-11-29 12:17 UTC");
        assert_eq!(local_time("2026-11-29T12:17:26+01:00"), "2026-11-29T12:17:26+01:00");
    }

    #[test]
    fn other_text_is_not_a_time() {
        for text in ["", "yesterday", "12:17", "2026-11-29T"] {
            assert_eq!(local_time(text), text);
        }
    }
}
