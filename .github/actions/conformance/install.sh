#!/usr/bin/env bash
# Builds the command `agentwire` from the version that the action's input names, unless there is one.
set -eu -o pipefail

if command -v agentwire; then
    agentwire --version
    exit
fi
url=https://github.com/agentwire/agentwire
# cargo finds commits and tags by their name, and branches only by their commit.
branch=$(git ls-remote "$url" "refs/heads/$CHECK_VERSION" | cut -f1)
cargo install --locked --git "$url" --rev "${branch:-$CHECK_VERSION}" agentwire-cli
