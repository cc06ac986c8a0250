//! The compaction updates over the `ContentBlock` of version 2.

use crate::common::compaction_updates;
use crate::v2::ContentBlock;

compaction_updates! {}
