//! A client with every feature of ACP, which takes steps as JSON lines.

fn main() {}
