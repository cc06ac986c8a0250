//! The names of tools and prompts that may become an attribute of a metric.

use std::collections::HashSet;

use agentwire_sync::Mutex;

use crate::attributes::text::TEXT_LIMIT;

/// The maximum number of different tool and prompt names in attributes of metrics. Each is its own time series.
pub const NAME_LIMIT: usize = 1000;

/// A bounded set of names.
#[derive(Debug, Default)]
pub(crate) struct NameSet(Mutex<HashSet<String>>);

impl NameSet {
    /// Returns whether the name is in the set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.lock().contains(name)
    }

    /// Adds a name, unless it is too long or the set is full. Returns whether it is in the set.
    pub(crate) fn admit(&self, name: &str) -> bool {
        let mut names = self.0.lock();
        if names.contains(name) {
            return true;
        }
        let admitted = name.len() <= TEXT_LIMIT && names.len() < NAME_LIMIT;
        if admitted {
            names.insert(name.to_owned());
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_of_names_is_bounded() {
        let names = NameSet::default();
        assert!(!names.admit(&"a".repeat(TEXT_LIMIT + 1)));
        assert!((0..NAME_LIMIT).all(|name| names.admit(&name.to_string())));
        assert!(!names.admit("one more"));
        assert!(!names.has("one more"));
        assert!(names.admit("0"));
    }
}
