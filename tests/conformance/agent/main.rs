//! An agent with every feature of ACP, on stdin and stdout.

fn main() {}
