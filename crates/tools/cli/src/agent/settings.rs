//! The modes and options of a session.

use agentwire_acp_sessions::Turn;
use agentwire_acp_sessions::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigSelectOption,
    SessionMode, SessionModeState,
};

/// The modes, which differ in what needs a permission: id, name, description.
const MODES: [(&str, &str, &str); 3] = [
    (DEFAULT, "Default", "Asks before it touches files or runs commands"),
    (ASK, "Ask", "Asks before it does anything, calls of MCP tools included"),
    (AUTO, "Auto", "Asks for nothing"),
];

const DEFAULT: &str = "default";
const ASK: &str = "ask";
const AUTO: &str = "auto";

/// The lengths of the pieces of echoed text: id, name, characters.
const CHUNKS: [(&str, &str, usize); 3] =
    [("short", "Short", 24), ("long", "Long", 240), ("whole", "In one piece", usize::MAX)];

const OPTION_CHUNKS: &str = "chunks";
const OPTION_THINK: &str = "think";

/// The modes, with the default one.
pub(super) fn modes() -> SessionModeState {
    let modes = MODES.map(|(id, name, description)| SessionMode::new(id, name).description(description));
    SessionModeState::new(DEFAULT, modes)
}

/// The options. The mode is one of them, for clients that have no modes.
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

/// Whether a file or a command needs a permission.
pub(super) fn asks_for_tools(turn: &Turn) -> bool {
    turn.mode().is_none_or(|mode| *mode != *AUTO)
}

/// Whether a call of an MCP tool needs a permission.
pub(super) fn asks_for_calls(turn: &Turn) -> bool {
    turn.mode().is_some_and(|mode| *mode == *ASK)
}

/// The most characters of a piece of echoed text.
pub(super) fn chunk_length(turn: &Turn) -> usize {
    let chosen = turn.option(OPTION_CHUNKS);
    let is_it =
        |id: &str| matches!(&chosen, Some(SessionConfigOptionValue::ValueId(value)) if **value == *id);
    CHUNKS.iter().find(|(id, ..)| is_it(id)).map_or(CHUNKS[0].2, |(.., size)| *size)
}

/// Whether a thought comes before each answer.
pub(super) fn thinks_aloud(turn: &Turn) -> bool {
    matches!(turn.option(OPTION_THINK), Some(SessionConfigOptionValue::Boolean(true)))
}
