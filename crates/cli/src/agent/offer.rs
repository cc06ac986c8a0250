//! What can be chosen in a session.

use agentwire_acp_sessions::Turn;
use agentwire_acp_sessions::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigSelectOption,
    SessionMode, SessionModeState,
};

/// What is asked for before it is done. Id, name, description.
const MODES: [(&str, &str, &str); 3] = [
    (DEFAULT, "Default", "Asks before it touches files or runs commands"),
    (ASK, "Ask", "Asks before it does anything, calls of MCP tools included"),
    (AUTO, "Auto", "Asks for nothing"),
];

const DEFAULT: &str = "default";
const ASK: &str = "ask";
const AUTO: &str = "auto";

/// The pieces that echoed text leaves in. Id, name, how many characters.
const CHUNKS: [(&str, &str, usize); 3] =
    [("short", "Short", 24), ("long", "Long", 240), ("whole", "In one piece", usize::MAX)];

const OPTION_CHUNKS: &str = "chunks";
const OPTION_THINK: &str = "think";

/// The modes, and the one that a session begins in.
pub(super) fn modes() -> SessionModeState {
    let modes = MODES.map(|(id, name, description)| SessionMode::new(id, name).description(description));
    SessionModeState::new(DEFAULT, modes)
}

/// The options. The mode is one of them, for clients that look only here.
pub(super) fn options() -> [SessionConfigOption; 3] {
    let modes = MODES.map(|(id, name, about)| SessionConfigSelectOption::new(id, name).description(about));
    let chunks = CHUNKS.map(|(id, name, _)| SessionConfigSelectOption::new(id, name));
    [
        SessionConfigOption::select("mode", "Mode", DEFAULT, modes.to_vec())
            .category(SessionConfigOptionCategory::Mode),
        SessionConfigOption::select(OPTION_CHUNKS, "Pieces", CHUNKS[0].0, chunks.to_vec())
            .description("How long the pieces are in which a prompt is said again"),
        SessionConfigOption::boolean(OPTION_THINK, "Think aloud", false)
            .description("Whether a thought comes before each answer"),
    ]
}

/// Whether the person is to be asked before a tool of ours is used.
pub(super) fn asks(turn: &Turn) -> bool {
    turn.mode().is_none_or(|mode| *mode != *AUTO)
}

/// Whether the person is to be asked before a tool of an MCP server is called.
pub(super) fn asks_for_calls(turn: &Turn) -> bool {
    turn.mode().is_some_and(|mode| *mode == *ASK)
}

/// How many characters a piece of echoed text has at most.
pub(super) fn chunk(turn: &Turn) -> usize {
    let chosen = turn.option(OPTION_CHUNKS);
    let is_it =
        |id: &str| matches!(&chosen, Some(SessionConfigOptionValue::ValueId(value)) if **value == *id);
    CHUNKS.iter().find(|(id, ..)| is_it(id)).map_or(CHUNKS[0].2, |(.., size)| *size)
}

/// Whether to think aloud.
pub(super) fn thinks(turn: &Turn) -> bool {
    matches!(turn.option(OPTION_THINK), Some(SessionConfigOptionValue::Boolean(true)))
}
