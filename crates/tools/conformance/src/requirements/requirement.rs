//! The requirements of both protocols, as data: text, parties, revisions and page of the specification.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::requirements::protocol::Protocol;
use crate::requirements::revision::Revision;

/// One testable demand of a specification, as an entry of `requirements/PROTOCOL/AREA.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Requirement {
    /// Unique within the protocol, such as `RPC-06`.
    pub id: String,
    /// The first revision in which it holds.
    since: Option<Revision>,
    /// The last revision in which it holds; without one it holds up to the newest.
    until: Option<Revision>,
    /// The revisions in which it holds, where they are no range.
    #[serde(default)]
    revisions: Vec<Revision>,
    /// The page of the specification.
    pub page: String,
    /// How strongly the specification demands it.
    pub level: Level,
    /// Whether the specification implies it without a key word.
    #[serde(default)]
    pub implied: bool,
    /// The page's sentence for it, quoted with its key word: at most 15 words. `None` if it is implied.
    quote: Option<String>,
    /// The same in revisions with other words, each under the last revision that has them.
    #[serde(default)]
    earlier_quotes: BTreeMap<Revision, String>,
    /// Who has to fulfil it.
    pub binds: Vec<Role>,
    /// The visibility for a peer.
    pub wire: Wire,
    /// The demand, in one or two sentences.
    pub text: String,
    /// The id in the test kit of ACP's authors.
    pub tck: Option<String>,
    /// The scenario of MCP's official suite that touches it.
    pub official: Option<String>,
    /// The checks that cover it, by party: the module below the party's, and the function.
    #[serde(default)]
    pub checks: BTreeMap<Role, String>,
    /// Why it has no check, for one of its parties or for all.
    pub unchecked: Option<String>,
    /// Its protocol, from the folder of the file.
    #[serde(skip)]
    protocol: Option<Protocol>,
    /// Its area, from the name of the file.
    #[serde(skip)]
    area: &'static str,
}

/// How strongly a specification demands something. The order is that of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// A permission, or a fact that is worth recording.
    May,
    /// "SHOULD", or implied.
    Should,
    /// "MUST".
    Must,
}

/// A party of one of the protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The agent of ACP.
    Agent,
    /// The client of either protocol.
    Client,
    /// The server of MCP.
    Server,
    /// The program that starts a chain of ACP proxies.
    Conductor,
    /// A proxy of ACP.
    Proxy,
}

/// The visibility of a requirement in the messages to a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Wire {
    /// It does.
    Yes,
    /// Only with a profile, in a window of time, or for some peers.
    Partly,
    /// It does not.
    No,
}

impl Requirement {
    pub(crate) fn of(mut self, protocol: Protocol, area: &'static str) -> Self {
        self.protocol = Some(protocol);
        self.area = area;
        self
    }

    /// Its area, such as `lifecycle`.
    pub fn area(&self) -> &str {
        self.area
    }

    /// Its protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol.unwrap_or(Protocol::Mcp)
    }

    /// Whether it holds in a revision of its protocol.
    pub fn holds_in(&self, revision: Revision) -> bool {
        if revision.protocol() != self.protocol() {
            return false;
        }
        if !self.revisions.is_empty() {
            return self.revisions.contains(&revision);
        }
        self.since.is_none_or(|since| since <= revision) && self.until.is_none_or(|until| revision <= until)
    }

    /// The newest revision in which it holds.
    pub fn newest(&self) -> Option<Revision> {
        Revision::all(self.protocol()).iter().rev().copied().find(|revision| self.holds_in(*revision))
    }

    /// The address of its page in a revision, or in the nearest one that has the page.
    pub fn url(&self, revision: Revision) -> String {
        crate::requirements::page::url(&self.page, revision)
    }

    /// The sentence of a revision's page for it. `None` if it is implied.
    pub fn quote(&self, revision: Revision) -> Option<&str> {
        let earlier = self.earlier_quotes.range(revision..).next().map(|(_, quote)| quote);
        earlier.or(self.quote.as_ref()).map(String::as_str)
    }

    /// Whether a scenario of MCP's official suite touches it.
    pub(crate) fn is_touched_by(&self, scenario: &str) -> bool {
        let mut named = self.official.iter().flat_map(|names| names.split(", "));
        named.any(|name| match name.strip_suffix('*') {
            Some(start) => scenario.starts_with(start),
            None => name == scenario,
        })
    }

    /// The id with its protocol, such as `mcp/RPC-06`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.protocol(), self.id)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::May => "may",
            Self::Should => "should",
            Self::Must => "must",
        })
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Client => "client",
            Self::Server => "server",
            Self::Conductor => "conductor",
            Self::Proxy => "proxy",
        })
    }
}
