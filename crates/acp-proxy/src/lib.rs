//! Proxies between an ACP client and an agent: what passes can be watched, changed and answered, in a chain of them.
//!
//! You write a type that implements [`Proxy`], which has a hook for requests and one for notifications, both for both
//! directions. What you do not write passes unchanged.
//!
//! ```
//! use agentwire_acp_proxy::{Direction, Ends, ErrorObject, Next, Notification, Proxy, RawJson, Request};
//!
//! /// Lets nobody write files, and tells who tries.
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
//!  Conductor::new()                        client ⇄ conductor ⇄ agent    sends each what its neighbours say
//!      .component(a).component(b)                    ⇅   ⇅
//!      .serve(client, agent)                         a   b
//! ```
//!
//! [`proxied`] and [`Conductor::in_front_of`] give transports, so any part of a chain can stand where an agent could,
//! and [`Conductor::serve_as_component`] makes a chain a component. `proxy/initialize` and `proxy/successor` are a draft:
//! <https://agentclientprotocol.com/rfds/proxy-chains>. Proxies see nothing of them.
//!
//! # How it works
//!
//! One mechanism does it all: a relay joins two exchanges, one with the client and one with the agent, and asks on one
//! what it is asked on the other. Each hop has request ids of its own. A component's transport is split in two, plain and
//! successor, with a relay behind it on one end of it and between those of neighbours on the other. It does not run on
//! the driver of `agentwire-peer`: that reads whatever comes, which is right for an end and wrong in between, where what
//! cannot be passed on must not be read.
//!
//! # Invariants
//!
//! - **Nothing is known.** No method has a type here but those between conductors and components, so both versions of
//!   the protocol, their drafts and extensions pass. Params, results and the data of errors pass byte for byte, `_meta`
//!   with them, unless a hook changes them, and but for one id: where `elicitation/create` names the request that it
//!   belongs to, it names it to each hop by the id that the request has there. Text that is no message is answered where
//!   it came from.
//! - **Order.** What passes in one direction keeps its order: requests, notifications, answers and cancels, unless a hook
//!   waits for something of its own before it goes on, see [`Proxy::request`].
//! - **Versions stay.** `initialize` reaches the agent, and its `protocolVersion` the client.
//! - **Cancelling passes.** `$/cancel_request` goes from hop to hop, with the id that the request has there, and so does
//!   a hook's dropping what it had passed on. It is never put into an envelope.
//! - **Every request is answered**: by an error if a hook returns one or panics, or the other end closes.
//! - **Bounds.** While 64 KiB wait for one end, nothing more is read from the other; what still comes waits in its sender.
//!   More than 1024 open requests of one end are refused. Both are [`config`]'s. The two directions of a component share
//!   one transport, so of what goes to the agent up to 1 MiB is taken by a component that cannot pass it on, and up to
//!   16 MiB for each component by a conductor, which reads no more from its client while 64 KiB of that wait. Otherwise
//!   two ends that flood each other would stop a chain for good, though both read.
//! - Nothing is spawned, and no lock is held while code of yours runs.
//!
//! # How it ends
//!
//! | what happens | then |
//! |---|---|
//! | the client closes | what it said is passed on, then the agent is closed, and heard until it ends |
//! | the agent closes | what it said is passed on, what it owes is answered with errors, then the client is closed |
//! | a component ends | its neighbours see their other end close, and so on to both ends of the chain |
//! | a transport fails | as if that end had closed; the reason is what is returned |
//! | the future is dropped | hooks and transports are dropped, handles fail |
//!
//! What hooks still do has [`Config::drain`] to end, and a transport [`Config::close`] to close. A component hears no more
//! once it is closed, so a conductor gives what it was asked that time too. Both times count from the first closing, for all
//! hops of a conductor alike: when the first is over every transport of the chain is being closed, and after both the chain
//! has ended, however long it is. What a transport has to say while nobody can take it keeps that transport from being
//! closed for half of its time, and is then thrown away.
//!
//! # What it will not do
//!
//! It starts no processes and knows no transport. It does not bridge MCP over ACP, and it does not restart or pass by a
//! component that has failed: what it would have kept back must not pass for that.

mod closing;
mod component;
mod conductor;
mod deadline;
mod ends;
mod envelope;
mod error;
mod line;
mod names;
mod next;
mod proxied;
mod proxy;
mod relay;
mod shared;
mod split;
mod turn;

pub use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};
pub use agentwire_peer::{Closed, Config};
pub use agentwire_transport::Transport;
pub use component::{serve, serve_with};
pub use conductor::Conductor;
pub use ends::{End, EndCall, EndNotify, Ends};
pub use error::Broken;
pub use next::{Cancelled, Next, Run};
pub use proxied::{proxied, proxied_with};
pub use proxy::{Direction, Proxy, Transparent};
pub use relay::{config, relay, relay_with};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
