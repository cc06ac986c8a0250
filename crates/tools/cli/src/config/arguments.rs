//! `--config`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// The file with named agents, named servers and defaults [default: $AGENTWIRE_CONFIG, else agentwire/config.toml in
    /// $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
