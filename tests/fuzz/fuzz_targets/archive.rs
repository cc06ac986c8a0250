//! Runs the fuzz target `archive` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("archive")
    .expect("it is listed")
    .run(bytes));
