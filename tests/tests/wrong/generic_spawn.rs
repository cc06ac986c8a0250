//! Code that is generic over the client spawns a connection without the bound that spawning needs.
//~ consider adding an explicit lifetime bound
//~ + 'static

use agentwire::acp::client::{AgentHandle, Client, connect};
use agentwire::stdio::Child;

fn run<C: Client>(client: C, child: Child) {
    tokio::spawn(connect(client, child, async |_: AgentHandle| Ok(())));
}

fn main() {
    let _ = run::<Box<dyn agentwire::acp::client::Client>>;
}
