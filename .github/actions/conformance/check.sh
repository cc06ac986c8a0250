#!/usr/bin/env bash
# Runs `agentwire check` with what the inputs of the action say, and adds its summary to that of the job.
#
# The inputs are in variables with the prefix CHECK_. They are never part of a script, and the program that is judged does not see
# them.
set -efu -o pipefail

if [ -z "$CHECK_SUBJECT" ]; then
    echo "the input \`subject\` is missing: acp-agent, acp-client, mcp-server or mcp-client" >&2
    exit 2
fi
if [ -z "$CHECK_COMMAND$CHECK_URL" ]; then
    echo "the inputs \`command\` and \`url\` are both missing: one of them says where the $CHECK_SUBJECT is" >&2
    exit 2
fi

# With `=`, because a value may begin with a dash.
arguments=("--transport=$CHECK_TRANSPORT" "--level=$CHECK_LEVEL" "--timeout=$CHECK_TIMEOUT")
[ -z "$CHECK_COMMAND" ] || arguments+=("--command=$CHECK_COMMAND")
[ -z "$CHECK_URL" ] || arguments+=("--url=$CHECK_URL")
for revision in $CHECK_REVISION; do arguments+=("--revision=$revision"); done
[ -z "$CHECK_PROFILE" ] || arguments+=("--profile=$CHECK_PROFILE")
[ -z "$CHECK_BASELINE" ] || arguments+=("--baseline=$CHECK_BASELINE")
if [ -n "$CHECK_TOKEN" ]; then
    # Every process of the machine can read arguments; only this user can read the file.
    headers=$(mktemp)
    trap 'rm -f -- "$headers"' EXIT
    printf 'Authorization: Bearer %s\n' "$CHECK_TOKEN" > "$headers"
    arguments+=("--header-file=$headers")
fi
arguments+=("--html=$CHECK_REPORT/report.html" "--junit=$CHECK_REPORT/report.xml")
arguments+=("--sarif=$CHECK_REPORT/report.sarif" "--json-file=$CHECK_REPORT/report.json")
arguments+=("--markdown=$CHECK_REPORT/report.md" "$CHECK_SUBJECT")

export -n CHECK_SUBJECT CHECK_COMMAND CHECK_URL CHECK_TRANSPORT CHECK_REVISION CHECK_PROFILE CHECK_BASELINE CHECK_LEVEL
export -n CHECK_TIMEOUT CHECK_TOKEN CHECK_REPORT

mkdir -p -- "$CHECK_REPORT"
# The summary of an earlier run must not pass for that of this one.
rm -f -- "$CHECK_REPORT/report.md"

# Text of the program that begins with `::` must not be a command to the runner.
secret=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$secret"
code=0
agentwire check "${arguments[@]}" || code=$?
echo "::$secret::"

# A summary has at most 1 MiB.
if [ -f "$CHECK_REPORT/report.md" ]; then
    head -c 1000000 -- "$CHECK_REPORT/report.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
exit "$code"
