//! The modes and options of a session.

use agentwire_acp_sessions::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode,
    SessionModeState,
};

const MODES: [(&str, &str); 2] = [("ask", "Ask"), ("auto", "Auto")];
const MODELS: [(&str, &str); 2] = [("small", "Small"), ("large", "Large")];

pub(crate) fn modes() -> SessionModeState {
    SessionModeState::new(MODES[0].0, MODES.map(|(id, name)| SessionMode::new(id, name)))
}

/// The options. The first shows the mode.
pub(crate) fn options() -> [SessionConfigOption; 3] {
    let values = |values: [(&'static str, &'static str); 2]| {
        values.map(|(id, name)| SessionConfigSelectOption::new(id, name)).to_vec()
    };
    [
        SessionConfigOption::select("mode", "Mode", MODES[0].0, values(MODES))
            .category(SessionConfigOptionCategory::Mode),
        SessionConfigOption::select("model", "Model", MODELS[0].0, values(MODELS))
            .category(SessionConfigOptionCategory::Model),
        SessionConfigOption::boolean("verbose", "Verbose", false),
    ]
}
