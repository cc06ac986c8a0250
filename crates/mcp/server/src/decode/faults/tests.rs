//! Tests that all faults of a call's arguments are named in one message.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::*;

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "only read")]
struct Order {
    table: u32,
    dishes: Vec<Dish>,
    name: String,
    tip: Option<f64>,
    paid: bool,
    notes: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only read")]
struct Dish {
    name: String,
    size: Size,
}

#[derive(Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

fn faults<A: DeserializeOwned + std::fmt::Debug>(json: &str) -> String {
    of_json::<A>(json, &serde_json::from_str::<A>(json).expect_err("a fault"))
}

/// JSON Schema counts `2.0` as an integer, and so does the first attempt at the arguments.
#[test]
fn whole_number_with_a_fraction_is_not_a_fault() {
    let json = r#"{ "table": 2.0, "dishes": [], "paid": true, "notes": 1.5 }"#;
    assert_eq!(faults::<Order>(json), "`name` is missing");
    assert!(faults::<Order>(&json.replace("2.0", "2.5")).starts_with("`table`: expected u32, found"));
}

#[test]
fn all_faults_are_named_in_the_order_of_the_type() {
    let json = r#"{ "paid": "yes", "tip": [], "dishes": [{ "name": "soup", "size": "huge", "hot": true }, {}, 3], "notes": 1 }"#;
    let expected = [
        "`table` is missing",
        r#"`dishes[0].size`: expected `small` or `large`, found the string "huge""#,
        "`dishes[0].hot` is not a known member",
        "`dishes[1].name` is missing",
        "`dishes[1].size` is missing",
        "`dishes[2]`: expected struct Dish, found integer `3`",
        "`name` is missing",
        "`tip`: expected f64, found an array",
        r#"`paid`: expected a boolean, found the string "yes""#,
    ];
    assert_eq!(faults::<Order>(json).split("; ").collect::<Vec<_>>(), expected);
}

#[test]
fn one_fault_is_told_alone() {
    let json = r#"{ "table": null, "dishes": [], "name": "x", "paid": true, "notes": { "raw": 1.0 } }"#;
    assert_eq!(faults::<Order>(json), "`table`: expected u32, found null");
    assert_eq!(
        faults::<HashMap<String, u8>>(r#"{ "a": 256, "b": 1 }"#),
        "`a`: expected u8, found integer `256`"
    );
}

#[test]
fn the_text_is_bounded_and_escaped() {
    let json =
        serde_json::to_string(&(0..40).map(|n| (n.to_string(), "x")).collect::<HashMap<_, _>>()).unwrap();
    let text = faults::<HashMap<String, u8>>(&json);
    assert_eq!(text.split("; ").count(), MAX_NAMED + 1);
    assert!(text.ends_with("; and 24 more"), "{text}");

    let many: HashMap<_, _> = (0..400).map(|n| (n.to_string(), "x")).collect();
    assert!(
        faults::<HashMap<String, u8>>(&serde_json::to_string(&many).unwrap())
            .ends_with("and at least 48 more")
    );

    let long: HashMap<_, _> = [("k\u{1b}".repeat(9000), "\u{1b}[2J".repeat(9000))].into();
    let text = faults::<HashMap<String, u8>>(&serde_json::to_string(&long).unwrap());
    assert!(text.len() < 1000 && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn of_long_arguments_the_first_fault_is_told() {
    let json = format!(r#"{{ "name": 1, "tip": "x{}" }}"#, "x".repeat(LONG_ARGUMENTS));
    assert!(!faults::<Order>(&json).contains("; "));
}

#[test]
fn a_type_that_names_itself_or_takes_no_placeholder_ends_the_search() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    enum Term {
        Sum(Box<(Term, Term)>),
        Number(i64),
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Both {
        term: Term,
        port: std::num::NonZeroU16,
        name: String,
    }
    let json = r#"{ "term": "none", "port": "x", "name": 7 }"#;
    let text = faults::<Both>(json);
    assert!(text.starts_with("`term`: expected `Sum` or `Number`"), "{text}");
    assert!(text.contains("`name`: expected a string, found integer `7`"), "{text}");
}

#[test]
fn a_fault_that_a_tree_of_values_does_not_have_keeps_its_reason() {
    let json = r#"{ "table": 1, "table": 2, "dishes": [], "name": "x", "paid": true }"#;
    assert!(faults::<Order>(json).starts_with("duplicate field `table`"));
}

#[test]
fn a_fault_that_a_placeholder_causes_is_not_told() {
    #[derive(Debug, Deserialize)]
    #[serde(try_from = "Ends")]
    #[allow(dead_code, reason = "only read")]
    struct Range(u32, u32);
    #[derive(Deserialize)]
    struct Ends {
        from: u32,
        to: u32,
    }
    impl TryFrom<Ends> for Range {
        type Error = &'static str;

        fn try_from(ends: Ends) -> Result<Self, Self::Error> {
            if ends.from < ends.to { Ok(Self(ends.from, ends.to)) } else { Err("`from` must be below `to`") }
        }
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Search {
        text: String,
        range: Range,
        #[serde(flatten)]
        page: Page,
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Page {
        size: u32,
    }
    assert_eq!(faults::<Range>(r#"{ "from": 3, "to": "x" }"#), "`to`: expected u32, found the string \"x\"");
    assert_eq!(faults::<Range>(r#"{ "from": 3, "to": 2 }"#), "`from` must be below `to`");
    let json = r#"{ "text": "x", "range": { "from": 1, "to": 2 } }"#;
    assert_eq!(faults::<Search>(json), "`size` is missing");
    let json = r#"{ "range": { "from": 3 }, "size": 3 }"#;
    assert_eq!(
        faults::<Search>(json),
        "`range.to` is missing",
        "the search ends where no placeholder is taken"
    );
}

#[test]
fn value_that_the_first_reading_takes_has_no_fault() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Odd {
        long: i128,
        longer: u128,
        counts: HashMap<u32, bool>,
        flags: HashMap<bool, Size>,
        sizes: HashMap<Size, Option<char>>,
        name: String,
    }
    let json = r#"{ "long": -1267650600228229401496703205376, "longer": 7, "counts": { "1": true }, "flags": { "true": "small" },
        "sizes": { "large": "x" } }"#;
    assert_eq!(faults::<Odd>(json), "`name` is missing");
    let json =
        r#"{ "long": 1.5, "longer": -7, "counts": { "x": true }, "flags": {}, "sizes": {}, "name": "" }"#;
    let expected = [
        "`long`: expected i128, found floating point `1.5`",
        "`longer`: expected u128, found integer `-7`",
        "`counts`: expected u32, found the string \"x\"",
    ];
    assert_eq!(faults::<Odd>(json).split("; ").collect::<Vec<_>>(), expected);
}
