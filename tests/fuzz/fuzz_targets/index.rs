//! Runs the fuzz target `index` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("index")
    .expect("it is listed")
    .run(bytes));
