#!/usr/bin/env bash
# Asks the gate and hands its answer to the steps behind. Inputs come as INPUT_ variables and never as text of a script.
#
# `proceed=true` is written in one place, for an ACCEPT that gatekeeper itself reports as recorded, for the stage that
# was asked. Without a verdict (a crash, a missing program, a full disk, another program of that name) it stays false,
# and the step fails. Not `set -e`: the exit code is the answer and is read, not stumbled over.
set -uo pipefail

PATH=${RUNNER_TEMP:-/tmp}/gatekeeper/bin:$PATH # where the step before installs, if it does

tell() { printf '%s=%s\n' "$1" "$2" >> "$GITHUB_OUTPUT" || exit 74; }

# No verdict: an annotation with $2, and the exit code $1.
fail() {
  tell exit_code "$1"
  local text=${2//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '::error title=gatekeeper::%s\n' "${text//$'\n'/%0A}"
  exit "$1"
}

tell proceed false # the last value of a name counts; should this script be killed, this one does

if [ -z "$INPUT_STAGE" ]; then fail 64 'the input stage is required: name the stage that is asked for'; fi
case $INPUT_CONTINUE_ON_HOLD in
  true | false) ;;
  *) fail 64 "continue-on-hold is true or false, not: $INPUT_CONTINUE_ON_HOLD" ;;
esac

arguments=(check --output=github)
add() { if [ -n "$2" ]; then arguments+=("--$1=$2"); fi; } # joined, so that no value is taken for an option
add policy "$INPUT_POLICY"
add experiment "$INPUT_EXPERIMENT"
add variant "$INPUT_VARIANT"
add stage "$INPUT_STAGE"
add snapshot "$INPUT_SNAPSHOT"
add collect "$INPUT_COLLECT"
add baseline "$INPUT_BASELINE"
add revision "$INPUT_REVISION"
add run-id "$INPUT_RUN_ID"
add supersede "$INPUT_SUPERSEDE"
add start-stage "$INPUT_START_STAGE"
add reason "$INPUT_REASON"
add change-class "$INPUT_CHANGE_CLASS"
add idempotency-key "$INPUT_IDEMPOTENCY_KEY"
add adopt-policy "$INPUT_ADOPT_POLICY"
add wait "$INPUT_WAIT"
add interval "$INPUT_INTERVAL"
add log "$INPUT_LOG"
while IFS= read -r reference; do add evidence "$reference"; done <<< "$INPUT_EVIDENCE"

answer=$(mktemp "${RUNNER_TEMP:-/tmp}/gate-answer.XXXXXX") || fail 74 'no room for the answer in the temporary directory'
trap 'rm -f "$answer"' EXIT
GITHUB_OUTPUT=$answer gatekeeper "${arguments[@]}"
code=$?

# Of the first line of that name: those that count here stand before any that a metric's name could reach.
value() { sed -n "s/^$1=//p" "$answer" | head -n 1; }

verdict=$(value verdict)
case $code:$verdict in
  0:ACCEPT)
    if [ "$(value proceed)" != true ] || [ "$(value stage)" != "$INPUT_STAGE" ]; then
      fail 70 "no verdict: the answer is not a recorded ACCEPT of $INPUT_STAGE"
    fi
    ;;
  1:REJECT | 2:DEGRADE) ;;
  [0-3]:*) fail 70 "no verdict: exit code $code with the answer '$verdict'. Is the gatekeeper on PATH this one?" ;;
  127:*) fail 127 'no verdict: gatekeeper is not on PATH. Install it in a step before, or state the input install' ;;
  *) fail "$code" "no verdict: exit code $code. Neither go on nor roll back; what is wrong stands in the log above" ;;
esac

for name in verdict reason_codes missing resume_token event_id percent run_state; do
  tell "$name" "$(value "$name")"
done
tell exit_code "$code"
if [ "$verdict" = ACCEPT ]; then tell proceed true; fi
if [ "$verdict" = DEGRADE ] && [ "$INPUT_CONTINUE_ON_HOLD" = true ]; then exit 0; fi
exit "$code"
