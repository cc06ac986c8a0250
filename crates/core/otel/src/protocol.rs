//! The protocol of a connection and this program's role in it, with the names of attributes that follow from them.

use std::borrow::Cow;

use agentwire_mcp_wire::Revision;
use agentwire_peer::observe::Direction;

use crate::attributes::methods;
use crate::attributes::text::OTHER;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Acp,
    Mcp,
}

/// The role of this program in a connection or call. An agent is ACP's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Server,
}

impl Protocol {
    /// The index in an array with an element for each protocol.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Acp => "acp",
            Self::Mcp => "mcp",
        }
    }

    pub(crate) fn method_attribute(self) -> &'static str {
        match self {
            Self::Acp => "acp.method.name",
            Self::Mcp => "mcp.method.name",
        }
    }

    pub(crate) fn revision_attribute(self) -> &'static str {
        match self {
            Self::Acp => "acp.protocol.version",
            Self::Mcp => "mcp.protocol.version",
        }
    }

    /// The method's name if the protocol has it, else [`OTHER`].
    pub(crate) fn method(self, method: &str) -> &'static str {
        let table = match self {
            Self::Acp => methods::ACP,
            Self::Mcp => methods::MCP,
        };
        methods::known(table, method).unwrap_or(OTHER)
    }

    /// The name of a revision. `None` if it is unknown, because a peer may send any text.
    pub(crate) fn revision(self, revision: &str) -> Option<Cow<'static, str>> {
        match self {
            Self::Mcp => Revision::parse(revision).map(|revision| revision.as_str().into()),
            Self::Acp => {
                let is_number = revision.len() <= 3 && revision.bytes().all(|byte| byte.is_ascii_digit());
                (is_number && !revision.is_empty()).then(|| revision.to_owned().into())
            }
        }
    }
}

impl Role {
    /// The index in an array with an element for each role.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// The role of this program in a call of this direction.
    pub(crate) fn in_call(direction: Direction) -> Self {
        match direction {
            Direction::Out => Self::Client,
            Direction::In => Self::Server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_revision_is_left_out() {
        assert_eq!(Protocol::Mcp.revision("2025-06-18").as_deref(), Some("2025-06-18"));
        assert_eq!(Protocol::Mcp.revision("2025-06-19"), None);
        assert_eq!(Protocol::Acp.revision("1").as_deref(), Some("1"));
        assert_eq!(Protocol::Acp.revision(""), None);
        assert_eq!(Protocol::Acp.revision("1000"), None);
    }
}
