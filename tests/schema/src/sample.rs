//! Single values that are right by their format and hard on a reader.

use proptest::prelude::RngExt;
use proptest::test_runner::TestRng;
use serde_json::{Map, Value};

const TEXTS: &[&str] = &[
    "",
    "a",
    "good morning",
    "null",
    " \t\r\n",
    "\"quoted\" \\ and / slashed",
    "line\nline",
    "\u{0}\u{1}\u{1f}\u{7f}",
    "\u{2028}\u{feff}\u{ffff}",
    "Grüße, 世界, \u{1f600}\u{200d}\u{1f4bb}",
    "{\"json\":[1]}",
];

pub(crate) fn text(rng: &mut TestRng, format: Option<&str>, shortest: usize) -> String {
    let words: &[&str] = match format {
        Some("uri") => &["file:///tmp/a%20b", "https://example.test/x?y=1#z", "urn:example:a", "data:,"],
        Some("uri-template") => &["file:///{path}", "https://example.test/{?q*}", "x:{+a}"],
        Some("date-time") => &["2026-07-28T00:00:00Z", "1999-12-31T23:59:59.999+01:00"],
        Some("regex") => &["^a+$", "[0-9]{2}"],
        Some("byte") => &["", "aGVsbG8=", "AA==", "+/+/"],
        _ => TEXTS,
    };
    let mut text = pick(rng, words).to_owned();
    while text.chars().count() < shortest {
        text.push('x');
    }
    text
}

pub(crate) fn name(rng: &mut TestRng) -> String {
    pick(rng, &["a", "example.test/key", "Größe", "with space", "type", "\u{1f600}", "quote\""]).to_owned()
}

pub(crate) fn integer(rng: &mut TestRng, minimum: i128, maximum: i128) -> Value {
    let number = match rng.random_range(0..5) {
        0 => minimum,
        1 => maximum,
        2 => 0,
        3 => rng.random_range(-1..100),
        _ => rng.random_range(minimum..=maximum),
    };
    let number = number.clamp(minimum, maximum);
    i64::try_from(number).map_or_else(|_| Value::from(number as u64), Value::from)
}

pub(crate) fn number(rng: &mut TestRng, minimum: f64, maximum: f64) -> Value {
    let number = match rng.random_range(0..8) {
        0 => minimum,
        1 => maximum,
        2 => 0.0,
        3 => 0.1,
        4 => -1.5e-7,
        5 => 5e-324,
        6 => return Value::from(rng.random_range(0..1000).clamp(minimum as i64, maximum as i64)),
        _ => rng.random_range(-1e6..1e6),
    };
    number.clamp(minimum, maximum).into()
}

/// Any JSON at all, small.
pub(crate) fn anything(rng: &mut TestRng) -> Value {
    match rng.random_range(0..8) {
        0 => Value::Null,
        1 => rng.random::<bool>().into(),
        2 => integer(rng, i64::MIN.into(), u64::MAX.into()),
        3 => number(rng, f64::MIN, f64::MAX),
        4 | 5 => text(rng, None, 0).into(),
        6 => (0..rng.random_range(0..3)).map(|_| anything(rng)).collect(),
        _ => {
            let members = (0..rng.random_range(0..3)).map(|_| (name(rng), anything(rng)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

fn pick<'t>(rng: &mut TestRng, from: &[&'t str]) -> &'t str {
    from[rng.random_range(0..from.len())]
}
