use super::ContentBlock;
use crate::common::compaction_updates;

compaction_updates! {}
