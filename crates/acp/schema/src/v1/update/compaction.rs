//! The compaction updates over the `ContentBlock` of version 1.

use crate::common::compaction_updates;
use crate::v1::ContentBlock;

compaction_updates! {}
