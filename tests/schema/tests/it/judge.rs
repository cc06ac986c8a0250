//! Holds a type's treatment of a text against the schema.

use std::collections::BTreeMap;
use std::fmt::Write;

use agentwire_schema_tests::{Document, Mutation, Reader, Reading, Rules};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::registry::Row;

/// The same numbers in every run.
pub(crate) fn runner() -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng)
}

/// Judges one type by one definition.
pub(crate) struct Judge<'d> {
    pub(crate) document: &'d Document,
    read_by: &'d Document,
    read_at: String,
    pub(crate) reader: Reader<'d>,
    pub(crate) pointer: String,
    pub(crate) row: &'d Row,
}

/// The correct treatment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Taken,
    Refused,
    /// Not said by the schema.
    Either,
}

impl<'d> Judge<'d> {
    /// Written text is judged by `document`, read text by `read_by`.
    pub(crate) fn new(document: &'d Document, read_by: &'d Document, rules: &'d Rules, row: &'d Row) -> Self {
        let pointer = document.pointer(row.name);
        let pointer = pointer.unwrap_or_else(|| panic!("{} has no {}", document.name(), row.name));
        let read_at = read_by.pointer(row.name).expect("it has all that the other has");
        Self { document, read_by, read_at, reader: Reader::new(read_by, rules), pointer, row }
    }

    /// A valid instance must be read, and come back valid and the same.
    pub(crate) fn valid(&self, value: &Value) -> Result<(), String> {
        let text =
            (self.row.round_trip)(&value.to_string()).map_err(|fault| format!("must be taken: {fault}"))?;
        let written = serde_json::from_str(&text).map_err(|fault| format!("wrote {text}: {fault}"))?;
        self.document.check(&self.pointer, &written)?;
        match self.reader.read(&self.read_at, value) {
            Reading::Taken(kept) => kept.compare(&written),
            // Several definitions fit, so none may change it.
            Reading::Either(_) if written == *value => Ok(()),
            other => Err(format!("the reader is wrong: {other:?}")),
        }
    }

    /// A mutated one must be taken or refused by the schema; what is taken comes back valid again.
    pub(crate) fn mutated(&self, mutation: &Mutation) -> Result<Verdict, String> {
        let result = (self.row.round_trip)(&mutation.text);
        match (self.reader.read(&self.read_at, &mutation.value), result) {
            (Reading::Taken(kept), Ok(text)) => {
                let written = Mutation::written(&text).map_err(|fault| format!("wrote {text}: {fault}"))?;
                kept.compare(&written)?;
                if !kept.is_beyond_schema() {
                    self.read_by.check(&self.read_at, &written)?;
                }
                Ok(Verdict::Taken)
            }
            (Reading::Taken(_), Err(fault)) => Err(format!("must be taken: {fault}")),
            (Reading::Refused(why), _) if self.is_valid(mutation) => {
                Err(format!("the reader is wrong, it is valid: {why}"))
            }
            (Reading::Refused(_), Err(_)) => Ok(Verdict::Refused),
            (Reading::Refused(why), Ok(text)) => {
                Err(format!("must be refused, because {why}; became {text}"))
            }
            _ => Ok(Verdict::Either),
        }
    }

    fn is_valid(&self, mutation: &Mutation) -> bool {
        !mutation.is_large() && self.read_by.is_valid(&self.read_at, &mutation.value)
    }
}

/// The faults, each kind once: the same words about the same definition.
#[derive(Default)]
pub(crate) struct Faults(BTreeMap<String, (usize, String)>);

impl Faults {
    pub(crate) fn add(&mut self, definition: &str, what: &str, fault: &str, of: &impl ToString) {
        let words: String = fault.chars().filter(|letter| !letter.is_ascii_digit()).take(50).collect();
        let first = || (0, format!("{what}: {fault}\n    of {}", of.to_string()));
        self.0.entry(format!("{definition} {words}")).or_insert_with(first).0 += 1;
    }

    /// # Panics
    ///
    /// When there is one.
    pub(crate) fn report(self) {
        let mut report = String::new();
        for (kind, (times, fault)) in &self.0 {
            let definition = kind.split(' ').next().unwrap_or_default();
            let _ = writeln!(report, "{definition} ({times} times), {fault}");
        }
        assert!(self.0.is_empty(), "{} kinds of faults\n{report}", self.0.len());
    }
}
