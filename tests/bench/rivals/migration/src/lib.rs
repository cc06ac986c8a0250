//! The rivals' side of the two pages about moving to Agentwire. `build.rs` takes it from the pages; `cargo check` is the test.
#![allow(dead_code, deprecated, unused_variables, reason = "what a page shows is called by nobody")]

mod from_rmcp {
    include!(concat!(env!("OUT_DIR"), "/from-rmcp.rs"));
}

mod from_official_acp {
    include!(concat!(env!("OUT_DIR"), "/from-official-acp.rs"));
}
