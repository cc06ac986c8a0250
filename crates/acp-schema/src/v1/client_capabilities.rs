use crate::common::ElicitationCapabilities;
use crate::wire::{marker_capability, object};

object! {
    /// What a client can do, as told in `initialize`.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/initialization>.
    ClientCapabilities {
        /// Which file methods the agent may call.
        default fs: FileSystemCapabilities,
        /// Whether the agent may call the `terminal/*` methods, all of them.
        default terminal: bool,
        /// Which extensions of sessions the client understands.
        lenient session: Option<ClientSessionCapabilities>,
        /// Which kinds of authentication the client can carry out.
        default auth: AuthCapabilities,
        /// Whether and how the agent may ask the person for input. Present without a mode, it allows none.
        lenient elicitation: Option<ElicitationCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// Which file methods a client answers.
    FileSystemCapabilities {
        /// Whether it answers `fs/read_text_file`.
        default read_text_file: bool,
        /// Whether it answers `fs/write_text_file`.
        default write_text_file: bool,
        meta,
        extra,
    }
}

object! {
    /// Which extensions of sessions a client understands.
    ClientSessionCapabilities {
        /// Whether the agent may send `compaction_update` and `compaction_summary_chunk`.
        lenient compaction: Option<CompactionCapabilities>,
        /// Which configuration options beyond the select the agent may offer.
        lenient config_options: Option<SessionConfigOptionsCapabilities>,
        /// Whether the agent may send `notice`.
        lenient notices: Option<NoticeCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// That a client follows compactions of the context. Being present is the statement.
    CompactionCapabilities {
        extra,
    }
}

object! {
    /// That a client shows notices. Being present is the statement.
    NoticeCapabilities {
        extra,
    }
}

object! {
    /// Which configuration options beyond the select a client understands.
    SessionConfigOptionsCapabilities {
        /// Whether the agent may offer options of type `boolean`, and the client may set them with one.
        lenient boolean: Option<BooleanConfigOptionCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// Which kinds of authentication a client can carry out.
    AuthCapabilities {
        /// Whether it can run the agent's program once more in a terminal of its own, with other arguments; only then
        /// may the agent offer methods of type `terminal`.
        default terminal: bool,
        meta,
        extra,
    }
}

marker_capability! {
    /// That a client understands options that are on or off.
    BooleanConfigOptionCapabilities,
}
