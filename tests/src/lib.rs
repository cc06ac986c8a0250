//! Tests of whole programs. They start programs and speak to them; nothing here links against what they are made of,
//! but for the programs of the README and of the guides, which are compiled here.

mod recording;

pub use recording::Recording;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/agent.md")]
struct AgentGuide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/client.md")]
struct ClientGuide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/mcp.md")]
struct McpGuide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/authorization.md")]
struct AuthorizationGuide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/production.md")]
struct ProductionGuide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/how-do-i.md")]
struct Questions;

#[cfg(doctest)]
#[doc = include_str!("../../docs/conformance/recording.md")]
struct Recordings;

#[cfg(doctest)]
#[doc = include_str!("../../crates/agentwire/README.md")]
struct Facade;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/from-rmcp.md")]
struct FromRmcp;

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/from-official-acp.md")]
struct FromOfficialAcp;
