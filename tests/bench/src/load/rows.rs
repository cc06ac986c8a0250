//! The rows of a table, and the floors that judge them.

use std::fmt;

use serde_json::{Value, json};

/// One row: what is measured, its unit, and how good it must be.
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    pub(crate) better: Better,
    pub(crate) floors: &'static [Floor],
}

impl Row {
    /// A row of things per second, of which more is better.
    pub(crate) const fn rate(key: &'static str, title: &'static str, floors: &'static [Floor]) -> Self {
        Self { key, title, unit: Unit::PerSecond, better: Better::Higher, floors }
    }

    /// A row of which less is better.
    pub(crate) const fn cost(
        key: &'static str,
        title: &'static str,
        unit: Unit,
        floors: &'static [Floor],
    ) -> Self {
        Self { key, title, unit, better: Better::Lower, floors }
    }
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

/// The share by which a row may be worse than another checkout's because of noise.
const NOISE: f64 = 0.03;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Higher,
    Lower,
}

/// A limit for our number.
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
    /// Not worse than the other checkout's, in this direction.
    OfBefore(Better),
}

/// The medians of one row. None: the program never answered, or there is no such program.
#[derive(Clone, Copy, Default)]
pub(crate) struct Medians {
    pub(crate) ours: Option<f64>,
    pub(crate) before: Option<f64>,
    pub(crate) rival: Option<f64>,
    pub(crate) limit: Option<f64>,
}

impl Floor {
    /// Whether the floor is met. It is when the rival never answered, and is not when the limit is missing.
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

/// Floors, each with whether it is met.
pub(crate) struct Judgement(Vec<(Floor, bool)>);

impl Judgement {
    pub(crate) fn new(floors: impl IntoIterator<Item = Floor>, medians: Medians) -> Self {
        Self(floors.into_iter().map(|floor| (floor, floor.holds(medians))).collect())
    }

    /// For a table.
    pub(crate) fn text(&self) -> String {
        let verdict = |(floor, ok): &(Floor, bool)| format!("{} {floor}", if *ok { "ok" } else { "MISS" });
        self.0.iter().map(verdict).collect::<Vec<_>>().join(", ")
    }

    /// The floors that are missed, each behind the name of what missed it.
    pub(crate) fn misses(&self, name: impl fmt::Display) -> Vec<String> {
        self.0.iter().filter(|(_, ok)| !ok).map(|(floor, _)| format!("{name}: {floor}")).collect()
    }

    pub(crate) fn json(&self) -> Vec<Value> {
        self.0.iter().map(|(floor, ok)| json!({ "floor": floor.to_string(), "ok": ok })).collect()
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

/// A whole number with a space between its thousands.
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
    fn floors_compare_with_the_median_they_name() {
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
    fn no_answer_loses() {
        let medians = Medians { ours: Some(1.0), ..Medians::default() };
        assert!(Floor::OfRival(50.0).holds(medians), "a rival that never answered");
        assert!(!Floor::OfLimit(0.1).holds(medians), "no limit to compare with");
        assert!(!Floor::AtMost(9.0).holds(Medians::default()), "we never answered");
    }

    #[test]
    fn thousands_have_a_space_between() {
        assert_eq!(Unit::PerSecond.show(1_234_567.4), "1 234 567/s");
        assert_eq!(Unit::PerSecond.show(999.0), "999/s");
    }
}
