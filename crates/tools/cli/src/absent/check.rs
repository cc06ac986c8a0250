//! Without the feature `check`: the command `check` does not exist.

use anyhow::Result;

pub(crate) use crate::absent::Absent as Commands;

pub(crate) async fn run(command: Commands, _json: bool, _verbose: bool) -> Result<()> {
    match command {}
}
