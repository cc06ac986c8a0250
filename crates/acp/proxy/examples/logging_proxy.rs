//! A component that logs to stderr the messages that pass. A conductor starts it, such as the example `conduct`.

use std::time::Instant;

use agentwire_acp_proxy::{
    Direction, ErrorObject, Next, Notification, Peers, Proxy, RawJson, Request, serve,
};
use agentwire_transport_stdio::stdio;

struct Logging;

impl Proxy for Logging {
    async fn request(&self, request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        let arrow = arrow(next.direction());
        let method = request.method.clone();
        eprintln!("{arrow} {method}?");
        let asked = Instant::now();
        let outcome = next.run(request).await;
        let took = asked.elapsed();
        match &outcome {
            Ok(result) => eprintln!("{arrow} {method}: {} bytes after {took:.1?}", result.len()),
            Err(error) => eprintln!("{arrow} {method}: {error} after {took:.1?}"),
        }
        outcome
    }

    fn notification(&self, note: Notification, direction: Direction, _: &Peers) -> Option<Notification> {
        eprintln!("{} {}", arrow(direction), note.method);
        Some(note)
    }
}

fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::ToAgent => "->",
        Direction::ToClient => "<-",
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    serve(Logging, stdio()?).await?;
    Ok(())
}
