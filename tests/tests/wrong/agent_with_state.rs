//! An agent with state that does not implement the trait for handlers.
//~ `Counter` does not answer prompts
//~ a type with state implements `TurnHandler`
//~ lines: 18, as it shows both ways to write an agent

use agentwire::acp::sessions::agent;

struct Counter(u64);

fn main() {
    let _ = agent(Counter(0));
}
