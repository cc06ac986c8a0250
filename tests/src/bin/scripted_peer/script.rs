//! The script of the peer, read from the command line.

/// The commands of a scripted peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script {
    pub(crate) role: Role,
    pub(crate) fault: Option<(Moment, Fault)>,
    pub(crate) stubborn: bool,
    pub(crate) grandchild: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Agent,
    Server,
}

/// The moment of the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before anything is read.
    Start,
    /// Instead of answering, or before answering, `initialize`.
    Initialize,
    /// Likewise `session/new` or `tools/list`.
    Open,
    /// Likewise `session/prompt` or `tools/call`, after an update.
    Turn,
}

/// The fault. After those marked so it goes on as if nothing had happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Reports it on stderr and exits with status 3.
    Exit,
    /// Is killed.
    Kill,
    /// Writes half a line and exits with status 3.
    HalfLine,
    /// Closes its stdout, and lives.
    CloseStdout,
    /// Closes its stdin, and lives.
    CloseStdin,
    /// Closes both, and lives.
    CloseBoth,
    /// Reads on, and never sends anything again.
    Silent,
    /// Reads no more, and never sends anything again.
    Deaf,
    /// Writes notifications without end, and reads no more.
    Flood,
    /// Answers, and reads no more then.
    Deafen,
    /// Writes lines that are not JSON, not JSON-RPC or not UTF-8. Goes on.
    Garbage,
    /// Writes a notification of 256 MiB in one line. Goes on.
    LongLine,
    /// Answers with 256 MiB in one line. Goes on.
    LongAnswer,
    /// Writes 256 MiB without a line end, and exits with status 3.
    LongEnd,
    /// Writes 8 MiB to stderr. Goes on.
    Chatter,
    /// Answers every request three times, first with an unused id. Goes on.
    Strays,
    /// Answers only with unused ids.
    WrongId,
    /// Refuses with an error. Goes on.
    Refuse,
    /// Answers with a result of the wrong shape. Goes on.
    WrongShape,
    /// Answers `initialize` with a version of the protocol that does not exist. Goes on.
    Version,
}

impl Script {
    pub(crate) fn parse(arguments: &[String]) -> Option<Self> {
        let (role, rest) = arguments.split_first()?;
        let role = match &**role {
            "agent" => Role::Agent,
            "server" => Role::Server,
            _ => return None,
        };
        let mut script = Self { role, fault: None, stubborn: false, grandchild: false };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            match &**word {
                "stubborn" => script.stubborn = true,
                "grandchild" => script.grandchild = true,
                moment => script.fault = Some((Moment::parse(moment)?, Fault::parse(rest.next()?)?)),
            }
        }
        Some(script)
    }
}

impl Moment {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "start" => Self::Start,
            "initialize" => Self::Initialize,
            "open" => Self::Open,
            "turn" => Self::Turn,
            _ => return None,
        })
    }
}

impl Fault {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "exit" => Self::Exit,
            "kill" => Self::Kill,
            "half-line" => Self::HalfLine,
            "close-stdout" => Self::CloseStdout,
            "close-stdin" => Self::CloseStdin,
            "close-both" => Self::CloseBoth,
            "silent" => Self::Silent,
            "deaf" => Self::Deaf,
            "flood" => Self::Flood,
            "deafen" => Self::Deafen,
            "garbage" => Self::Garbage,
            "long-line" => Self::LongLine,
            "long-answer" => Self::LongAnswer,
            "long-end" => Self::LongEnd,
            "chatter" => Self::Chatter,
            "strays" => Self::Strays,
            "wrong-id" => Self::WrongId,
            "refuse" => Self::Refuse,
            "wrong-shape" => Self::WrongShape,
            "version" => Self::Version,
            _ => return None,
        })
    }
}
