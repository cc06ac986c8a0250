//! Every definition: generated instances and their mutations, through our types and back.

use std::collections::HashMap;

use agentwire_schema_tests::{ACP, ACP_DRAFT, ACP_V2, Instances, MCP, Rules, mutations};

use crate::judge::{Faults, Judge, Verdict, runner};
use crate::registry;

/// How much is made of each definition.
struct Size {
    /// How many instances are made; half as many more for each branch of a union.
    instances: usize,
    /// How often the same is done at the same place.
    times: usize,
}

const USUAL: Size = Size { instances: 6, times: 1 };
const LONG: Size = Size { instances: 30, times: 3 };

macro_rules! documents {
    ($($test:ident: $document:literal, $rules:ident;)+) => {
        $(
            #[test]
            fn $test() {
                check($document, &$rules, &USUAL);
            }
        )+

        mod long {
            use super::*;

            #[test]
            #[ignore = "takes minutes: cargo xtask ci long"]
            fn every_document_at_length() {
                for (document, rules) in [$(($document, &$rules)),+] {
                    check(document, rules, &LONG);
                }
            }
        }
    };
}

documents! {
    acp_v1: "acp/v1.json", ACP;
    acp_v1_unstable: "acp/v1-unstable.json", ACP_DRAFT;
    acp_v2: "acp/v2.json", ACP_V2;
    acp_v2_unstable: "acp/v2-unstable.json", ACP_DRAFT;
    mcp_2024_11_05: "mcp/2024-11-05.json", MCP;
    mcp_2025_03_26: "mcp/2025-03-26.json", MCP;
    mcp_2025_06_18: "mcp/2025-06-18.json", MCP;
    mcp_2025_11_25: "mcp/2025-11-25.json", MCP;
    mcp_2026_07_28: "mcp/2026-07-28.json", MCP;
}

fn check(name: &str, rules: &Rules, size: &Size) {
    let document = registry::load(name);
    let rows = registry::of(document);
    let read_by = registry::superset_of(name).unwrap_or(document);
    let mut runner = runner();
    let mut faults = Faults::default();
    let (mut made, mut places, mut verdicts) = (0, 0, [0; 3]);
    for row in &rows {
        let judge = Judge::new(document, read_by, rules, row);
        let instances = Instances::new(document, &judge.pointer);
        let mut done: HashMap<String, usize> = HashMap::new();
        for _ in 0..size.instances + instances.branches() * size.instances / 2 {
            let instance = instances.make(&mut runner);
            made += 1;
            if let Err(fault) = judge.valid(&instance) {
                faults.add(row.name, "valid", &fault, &instance);
            }
            let wanted = |place: &str, what: &str| {
                let times = done.entry(format!("{what} {place}")).or_default();
                *times += 1;
                *times <= size.times
            };
            for mutation in mutations(&instance, wanted) {
                match judge.mutated(&mutation) {
                    Ok(verdict) => verdicts[verdict as usize] += 1,
                    Err(fault) => {
                        faults.add(row.name, mutation.what, &fault, &mutation.text);
                    }
                }
            }
        }
        places += done.len();
    }
    faults.report();
    let [taken, refused, either] = verdicts;
    eprintln!(
        "{name}: {} definitions, {made} instances; of their mutations at {places} places {taken} taken, \
         {refused} refused, {either} either",
        rows.len()
    );
    assert!(
        refused > taken / 20 && verdicts[Verdict::Either as usize] < taken / 3,
        "a test that cannot fail"
    );
}

/// Each definition of a document is somebody's: of a type, or of the envelopes that the generator makes.
#[test]
fn every_definition_has_a_type() {
    for name in registry::DOCUMENTS {
        let document = registry::load(name);
        let rows = registry::of(document);
        let has_row = |name: &&str| rows.iter().any(|row| row.name == *name);
        let stable = name.replace("-unstable", "");
        let stable_rows = registry::of(registry::load(&stable));
        let is_stable = |name: &&str| stable_rows.iter().any(|row| row.name == *name);
        let has_type = |definition: &&str| has_row(definition) || is_stable(definition);
        let is_envelope = |definition: &&str| registry::is_envelope(name, definition);
        let orphans: Vec<_> = document.names().filter(|name| !has_type(name) && !is_envelope(name)).collect();
        assert!(orphans.is_empty(), "{name}: {orphans:?}");
    }
}
