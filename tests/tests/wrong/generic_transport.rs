//! Code that is generic over the transport spawns a connection without the bound that spawning needs.
//~ consider further restricting type parameter `T` with trait `Send`
//~ lines: 60, as rustc names each function that the future passes through

use agentwire::acp::client::{AgentHandle, Client, connect};
use agentwire::transport::Transport;

fn run<C: Client + 'static, T: Transport + 'static>(client: C, transport: T) {
    tokio::spawn(connect(client, transport, async |_: AgentHandle| Ok(())));
}

fn main() {
    let _ = run::<Box<dyn agentwire::acp::client::Client>, agentwire::stdio::Child>;
}
