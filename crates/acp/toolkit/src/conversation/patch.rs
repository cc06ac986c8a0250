//! Applies the patches of version 2 within the memory limits.

use agentwire_acp_schema::v1::{Meta, Patch};

use super::limits::{ConversationLimits, replace};
use super::weight::weight;

/// Returns the value that a patch sets, or the default if it clears. `None` if the patch keeps the value.
pub(super) fn set_or_default<T: Default>(patch: Patch<T>) -> Option<T> {
    match patch {
        Patch::Keep => None,
        Patch::Clear => Some(T::default()),
        Patch::Set(value) => Some(value),
    }
}

/// Merges a patch of `_meta` key by key, unless the patch or its result is too large. Returns how many bytes are left out.
pub(super) fn merge_meta(
    meta: &mut Option<Meta>,
    patch: Patch<Meta>,
    held: &mut usize,
    limits: ConversationLimits,
    changed: &mut bool,
) -> usize {
    if patch.is_keep() {
        return 0;
    }
    // The size of the merged value is known only after merging. A patch over the limit is not merged at all.
    let weight = patch.value().map_or(0, weight);
    if weight > limits.field {
        return weight;
    }
    let mut merged = meta.clone();
    patch.merge(&mut merged);
    replace(meta, merged, held, limits.field, changed)
}
