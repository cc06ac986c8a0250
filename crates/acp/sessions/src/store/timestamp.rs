//! Times in milliseconds, and their text in the form of RFC 3339.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A time, in milliseconds since the Unix epoch, without leap seconds.
///
/// `Display` writes the form of ACP's `updatedAt`, RFC 3339: `2026-07-28T09:05:00.250Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Returns the time `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the time of the system's clock, or the Unix epoch where the clock is before it.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns the milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: u64 = 24 * 60 * 60 * 1000;
        let (year, month, day) = date(self.0 / DAY);
        let millis = self.0 % DAY;
        let (hour, minute, second) = (millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", millis % 1000)
    }
}

/// Returns the year, month and day `days` days after 1970-01-01, in the Gregorian calendar.
///
/// Counts in years that begin in March, so that the leap day is the last of its year, and in cycles of 400 years, which all
/// have the same number of days.
fn date(days: u64) -> (u64, u64, u64) {
    const CYCLE: u64 = 400 * 365 + 97;
    /// The days from 0000-03-01 to 1970-01-01.
    const BEFORE_1970: u64 = 719_468;
    let days = days + BEFORE_1970;
    let (cycle, day_of_cycle) = (days / CYCLE, days % CYCLE);
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / (CYCLE - 1)) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    // From March on, five months have 31, 30, 31, 30, 31 days, repeatedly: 153 in total.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let (month, next_year) =
        if month_from_march < 10 { (month_from_march + 3, 0) } else { (month_from_march - 9, 1) };
    (cycle * 400 + year_of_cycle + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, date};

    #[test]
    fn is_shown_as_the_protocol_wants_it() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_785_229_500_250, "2026-07-28T09:05:00.250Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
    }

    #[test]
    fn every_day_of_eight_hundred_years_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..800 * 366 {
            assert_eq!(date(days), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 if leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (year, month, day) = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                _ if day == last => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn no_moment_is_too_late() {
        assert!(Timestamp::from_millis(u64::MAX).to_string().ends_with('Z'));
    }
}
