//! Runs the fuzz target `frame` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| agentwire_fuzz_targets::target("frame")
    .expect("it is listed")
    .run(bytes));
