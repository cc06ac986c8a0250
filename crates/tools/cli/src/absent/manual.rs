//! Without the feature `manual`: no completions and no manual pages.

use anyhow::Result;

pub(crate) use crate::absent::Absent as Commands;

pub(crate) fn run(command: &Commands) -> Result<()> {
    match *command {}
}
