#!/usr/bin/env bash
# Builds the command `agentwire` from the checkout that the action is part of, unless it is on the PATH.
set -eu -o pipefail

if command -v agentwire; then
    agentwire --version
    exit
fi
cargo install --locked --path "$(dirname "$0")/../../../crates/tools/cli" --features check
