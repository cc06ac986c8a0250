//! Runs the fuzz target `journal` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("journal")
    .expect("it is listed")
    .run(bytes));
