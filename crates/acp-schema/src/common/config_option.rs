use crate::common::SessionConfigValueId;
use crate::wire::{object, open_enum};

object! {
    /// An option that is on or off.
    SessionConfigBoolean {
        /// Whether it is on.
        required current_value: bool,
    }
}

object! {
    /// A value of a select.
    SessionConfigSelectOption {
        /// Names the value.
        required value: SessionConfigValueId,
        /// What to call it in front of people.
        required name: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        meta,
    }
}

open_enum! {
    /// What a configuration option is about. Words of one's own begin with `_`.
    SessionConfigOptionCategory {
        /// The mode.
        Mode = "mode",
        /// The model.
        Model = "model",
        /// A parameter of the model.
        ModelConfig = "model_config",
        /// How hard to think.
        ThoughtLevel = "thought_level",
    } else Other
}
