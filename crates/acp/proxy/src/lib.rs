//! Proxies between an ACP client and an agent. A proxy watches, changes and answers the messages that pass; proxies form
//! chains.
//!
//! `agentwire_acp_proxy` here is `agentwire::acp::proxy` in the crate `agentwire`, with its feature `acp-proxy`.
//!
//! Implement [`Proxy`]: it has one hook for requests and one for notifications, both for both directions. The defaults pass
//! everything unchanged.
//!
//! ```
//! use agentwire_acp_proxy::{Direction, ErrorObject, Next, Proxy, RawJson, Request};
//!
//! /// Refuses to write files.
//! struct ReadOnly;
//!
//! impl Proxy for ReadOnly {
//!     async fn request(&self, request: Request, next: Next) -> Result<RawJson, ErrorObject> {
//!         if next.direction() == Direction::ToClient && request.method == "fs/write_text_file" {
//!             eprintln!("refused: {:?}", request.params);
//!             return Err(ErrorObject::invalid_request("no file may be written here"));
//!         }
//!         next.run(request).await
//!     }
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # use agentwire_acp_proxy::{Conductor, Transparent, proxied, relay, serve};
//! # use agentwire_transport_stdio::{Child, Command, stdio};
//! // In this program, between an editor on stdio and an agent:
//! let agent = Child::spawn(Command::new("agent"))?;
//! relay(ReadOnly, stdio()?, proxied(Transparent::default(), agent)).await?;
//!
//! // Or as a component, in a process of its own:
//! serve(ReadOnly, stdio()?).await?;
//!
//! // Or the conductor, which puts such components in front of an agent:
//! let component = Child::spawn(Command::new("read-only-proxy"))?;
//! let agent = Child::spawn(Command::new("agent"))?;
//! Conductor::new().component(component).serve(stdio()?, agent).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Three ways to run, which mix
//!
//! ```text
//!  relay(a, client, proxied(b, agent))     client ⇄ a ⇄ b ⇄ agent        all in this program
//!
//!  serve(a, stdio)                         conductor ⇄ a                 a process of its own: plain is the client,
//!                                                                        proxy/successor the agent
//!
//!  Conductor::new()                        client ⇄ conductor ⇄ agent    forwards between neighbours
//!      .component(a).component(b)                    ⇅   ⇅
//!      .serve(client, agent)                         a   b
//! ```
//!
//! [`proxied`] and [`Conductor::in_front_of`] return transports, so any part of a chain can take the place of an agent,
//! and [`Conductor::serve_as_component`] makes a chain a component. `proxy/initialize` and `proxy/successor` are a draft:
//! <https://agentclientprotocol.com/rfds/proxy-chains>. Proxies do not see them.
//!
//! # How it works
//!
//! A relay joins two ports of `agentwire-peer`, one to the client and one to the agent. Each request of one becomes a call
//! of the other. Each hop has request ids of its own. A component's transport is split into two channels, plain and
//! successor; a relay joins the channels in the component, and relays join those of neighbours in the conductor. A relay
//! reads one port only while the other has room: it must not read what it cannot pass on.
//!
//! # Invariants
//!
//! - **No method has a type here**, except those between conductors and components. So both versions of the protocol,
//!   their drafts and extensions pass. Params, results and the data of errors pass byte for byte, `_meta` included, unless
//!   a hook changes them. One id is replaced: where `elicitation/create` names the request that it belongs to, it names it
//!   by the id of the next hop. Text that is not a message is answered where it came from.
//! - **Order.** Messages of one direction keep their order: requests, notifications, answers and cancels, unless a hook
//!   waits for something of its own before it goes on, see [`Proxy::request`].
//! - **Versions are unchanged.** `initialize` reaches the agent, and the agent's `protocolVersion` reaches the client.
//! - **Cancelling passes.** `$/cancel_request` goes from hop to hop, with the id that the request has there. A hook that
//!   drops what it has passed on cancels it too. A cancel is never put into an envelope.
//! - **Every request is answered**: by an error if a hook returns one or panics, or the other side closes.
//! - **Bounds.** While 64 KiB are queued for one side, the other is not read. More than 1024 unanswered requests of one
//!   side are refused. Both limits are those of [`Config`]. The two directions of a component share one transport, so a
//!   flood in one must not stop the other. A component therefore queues up to 1 MiB of messages to the agent that it cannot
//!   pass on yet. A conductor queues up to 16 MiB for each component, and does not read its client while 64 KiB of that are
//!   queued. Otherwise a client and an agent that flood each other would block a chain for ever, although both read.
//! - The crate spawns no tasks, and holds no lock while your code runs.
//!
//! # How it ends
//!
//! | event | then |
//! |---|---|
//! | the client closes | its messages are passed on, then the agent is closed, and read until it ends |
//! | the agent closes | its messages are passed on, unanswered requests are answered with errors, then the client is closed |
//! | a component ends | its neighbours see their other side close, and so on to both ends of the chain |
//! | a transport fails | as if that side had closed; its error is returned |
//! | the future is dropped | hooks and transports are dropped, handles fail |
//!
//! Hooks have [`Config::drain`] to end, and then a transport has [`Config::close`] to close. A conductor also waits up to `drain`
//! for the responses to unanswered requests, because a component reads nothing after it is closed. For all hops of a conductor,
//! `drain` and then `close` begin with the first closing. After `drain`, every transport of the chain is being closed. After
//! `drain` and `close`, the chain has ended, whatever its length. If the messages received from a transport cannot be forwarded
//! yet, the transport stays open for half of `close`; then the messages are dropped.
//!
//! # What it will not do
//!
//! It starts no processes and knows no concrete transport. It does not bridge MCP over ACP. It does not restart or bypass
//! a component that has failed, because that component may have been there to hold messages back.

// circle: split/malformed.rs, split.rs: text that cannot be read is sent to the channels that the splitter has.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod conductor;
mod config;
mod deadline;
mod envelope;
mod error;
mod forwarding;
mod names;
mod next;
mod passing;
mod peers;
mod proxied;
mod proxy;
mod relay;
mod side;
mod split;

pub use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};
pub use agentwire_peer::Closed;
pub use agentwire_peer::observe;
pub use agentwire_transport::Transport;
pub use conductor::Conductor;
pub use conductor::component::{serve, serve_with};
pub use config::Config;
pub use error::ProxyError;
pub use next::{Cancelled, Next, Run};
pub use peers::{PeerCall, PeerHandle, PeerNotify, Peers};
pub use proxied::{proxied, proxied_with};
pub use proxy::{Proxy, Transparent};
pub use relay::{relay, relay_with};
pub use side::Direction;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
