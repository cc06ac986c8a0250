//! Runs the fuzz target `header` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("header")
    .expect("it is listed")
    .run(bytes));
