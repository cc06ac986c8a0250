//! The compaction updates over the `ContentBlock` of version 2.

use super::ContentBlock;
use crate::common::compaction_updates;

compaction_updates! {}
