//! What a row of the table is, and when it is good enough.

use std::fmt;

/// One row: what is measured, in what, and how good it must be.
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    pub(crate) better: Better,
    pub(crate) floors: &'static [Floor],
}

#[derive(Clone, Copy)]
pub(crate) enum Unit {
    PerSecond,
    Microseconds,
    Milliseconds,
    Seconds,
    /// Of 10^6 bytes.
    Megabytes,
    Kibibytes,
    Share,
    Crates,
}

/// What noise may take from a row, as a share, before it counts as worse than another checkout's.
const NOISE: f64 = 0.03;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Higher,
    Lower,
}

/// What our number must reach.
#[derive(Clone, Copy)]
pub(crate) enum Floor {
    /// At least this share of the limit's.
    OfLimit(f64),
    /// At least this many times the best rival's.
    OfRival(f64),
    AtMostOfLimit(f64),
    AtMostOfRival(f64),
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
    /// No worse than the other checkout's, in the direction that is better.
    OfBefore(Better),
}

/// The medians of one row: `None` where a program never answered, or where there is no such program.
#[derive(Clone, Copy)]
pub(crate) struct Medians {
    pub(crate) ours: Option<f64>,
    pub(crate) before: Option<f64>,
    pub(crate) rival: Option<f64>,
    pub(crate) limit: Option<f64>,
}

impl Floor {
    /// Whether the floor is held. A rival that never answered is beaten; a limit that is missing proves nothing.
    pub(crate) fn holds(self, medians: Medians) -> bool {
        let Some(ours) = medians.ours else { return false };
        match self {
            Self::OfLimit(share) => medians.limit.is_some_and(|limit| ours >= share * limit),
            Self::OfRival(times) => medians.rival.is_none_or(|rival| ours >= times * rival),
            Self::AtMostOfLimit(times) => medians.limit.is_some_and(|limit| ours <= times * limit),
            Self::AtMostOfRival(share) => medians.rival.is_none_or(|rival| ours <= share * rival),
            Self::AtLeast(value) => ours >= value,
            Self::AtMost(value) => ours <= value,
            Self::Below(value) => ours < value,
            Self::OfBefore(Better::Higher) => {
                medians.before.is_none_or(|before| ours >= before * (1.0 - NOISE))
            }
            Self::OfBefore(Better::Lower) => {
                medians.before.is_none_or(|before| ours <= before * (1.0 + NOISE))
            }
        }
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfLimit(share) => write!(f, ">= {share} of limit"),
            Self::OfRival(times) => write!(f, ">= {times} x rival"),
            Self::AtMostOfLimit(times) => write!(f, "<= {times} x limit"),
            Self::AtMostOfRival(share) => write!(f, "<= {share} of rival"),
            Self::AtLeast(value) => write!(f, ">= {value}"),
            Self::AtMost(value) => write!(f, "<= {value}"),
            Self::Below(value) => write!(f, "< {value}"),
            Self::OfBefore(Better::Higher) => write!(f, ">= {} of before", 1.0 - NOISE),
            Self::OfBefore(Better::Lower) => write!(f, "<= {} x before", 1.0 + NOISE),
        }
    }
}

impl Unit {
    /// A number with its unit, as short as it stays readable.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", grouped(value)),
            Self::Microseconds => format!("{value:.2} us"),
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Seconds => format!("{value:.1} s"),
            Self::Megabytes if value < 10.0 => format!("{value:.2} MB"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::Kibibytes => format!("{value:.1} KiB"),
            Self::Share => format!("{value:.3}"),
            Self::Crates => format!("{value:.0}"),
        }
    }
}

/// A whole number with its thousands apart.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_compare_with_whom_they_name() {
        let medians = Medians { ours: Some(60.0), before: Some(61.0), rival: Some(20.0), limit: Some(100.0) };
        assert!(Floor::OfLimit(0.6).holds(medians) && !Floor::OfLimit(0.61).holds(medians));
        assert!(Floor::OfRival(3.0).holds(medians) && !Floor::OfRival(3.1).holds(medians));
        assert!(Floor::AtMostOfLimit(0.6).holds(medians) && !Floor::AtMostOfLimit(0.5).holds(medians));
        assert!(Floor::AtMost(60.0).holds(medians) && !Floor::Below(60.0).holds(medians));
        let than = |before| Medians { before: Some(before), ..medians };
        assert!(
            Floor::OfBefore(Better::Higher).holds(than(61.0))
                && Floor::OfBefore(Better::Lower).holds(than(59.0))
        );
        assert!(
            !Floor::OfBefore(Better::Higher).holds(than(62.0))
                && !Floor::OfBefore(Better::Lower).holds(than(58.0))
        );
    }

    #[test]
    fn silence_is_beaten_but_never_wins() {
        let medians = Medians { ours: Some(1.0), before: None, rival: None, limit: None };
        assert!(Floor::OfRival(50.0).holds(medians), "a rival that never answered");
        assert!(!Floor::OfLimit(0.1).holds(medians), "no limit to compare with");
        assert!(
            !Floor::AtMost(9.0).holds(Medians { ours: None, before: None, rival: None, limit: None }),
            "we never answered"
        );
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(Unit::PerSecond.show(1_234_567.4), "1 234 567/s");
        assert_eq!(Unit::PerSecond.show(999.0), "999/s");
    }
}
