//! Runs the fuzz target `lines` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("lines")
    .expect("it is listed")
    .run(bytes));
