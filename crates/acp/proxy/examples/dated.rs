//! Two proxies within one program, for an editor that starts this in place of the agent:
//!
//! ```text
//! dated AGENT
//! ```
//!
//! One adds the time to every prompt, the other counts the agent's messages.

use std::cell::Cell;
use std::time::SystemTime;

use agentwire_acp_proxy::{
    Direction, ErrorObject, Next, Notification, Peers, Proxy, RawJson, Request, proxied, relay,
};
use agentwire_acp_schema::v1::PromptRequest;
use agentwire_jsonrpc::{RequestMethod, decode_params};
use agentwire_transport_stdio::{Child, Command, stdio};

struct Dated;

impl Proxy for Dated {
    async fn request(&self, mut request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        if next.direction() == Direction::ToAgent && request.method == PromptRequest::NAME {
            let mut prompt: PromptRequest = decode_params(request.params)?;
            let since = SystemTime::UNIX_EPOCH.elapsed().map_err(ErrorObject::internal_error)?;
            prompt.prompt.insert(0, format!("It is {} s after 1970. ", since.as_secs()).into());
            request.params = Some(RawJson::encode(&prompt).map_err(ErrorObject::internal_error)?);
        }
        next.run(request).await
    }
}

#[derive(Default)]
struct Counting {
    updates: Cell<u64>,
}

impl Proxy for Counting {
    fn notification(&self, note: Notification, direction: Direction, _: &Peers) -> Option<Notification> {
        if direction == Direction::ToClient {
            self.updates.set(self.updates.get() + 1);
        }
        Some(note)
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        eprintln!("{} updates passed", self.updates.get());
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = std::env::args_os().nth(1).ok_or("dated AGENT")?;
    let agent = Child::spawn(Command::new(agent))?;
    relay(Counting::default(), stdio()?, proxied(Dated, agent)).await?;
    Ok(())
}
