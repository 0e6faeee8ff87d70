#!/usr/bin/env bash
# Reviews every policy file that the changes touch, and all golden cases. Inputs come as INPUT_ variables.
#
# gatekeeper judges: this script calls it, collects the pages that it writes as if for the job's summary, and adds up exit
# codes. 10 is a finding that it was told to fail on. Any other code but 0 says that something was not reviewed, and that
# is a failure whatever the inputs say. Not `set -e`: one policy that does not load must not hide the others.
set -uo pipefail

PATH=${RUNNER_TEMP:-/tmp}/gatekeeper/bin:$PATH # where the step before installs, if it does
MARK='<!-- gatekeeper policy-review -->'
COMMENT_BYTES=60000 # GitHub takes 65536 characters
SUMMARY_BYTES=1000000 # and 1 MiB of a step

# An annotation, with what would end it or begin a command escaped.
annotate() {
  local text=${2//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '::%s title=gatekeeper policy review::%s\n' "$1" "${text//$'\n'/%0A}"
}

# Wrong usage: nothing was reviewed.
refuse() {
  annotate error "$1"
  printf 'result=error\n' >> "$GITHUB_OUTPUT"
  exit 64
}

one_of() { # name of the input, its value, the values that it may have
  local name=$1 value=$2 allowed
  shift 2
  for allowed in "$@"; do if [ "$value" = "$allowed" ]; then return; fi; done
  refuse "$name is one of: $*; not: $value"
}
one_of fail-on-check "$INPUT_FAIL_ON_CHECK" error warning info never
one_of fail-on-diff "$INPUT_FAIL_ON_DIFF" never loosened tightened any
one_of fail-on-backtest "$INPUT_FAIL_ON_BACKTEST" never accept-to-reject reject-to-accept any

cd "$GITHUB_WORKSPACE" || exit 74
pages=$(mktemp -d "${RUNNER_TEMP:-/tmp}/policy-review.XXXXXX") || exit 74
if [ -z "$INPUT_BASE" ]; then refuse 'no base to compare with: state the input base, a commit'; fi
base=$(git merge-base --end-of-options "$INPUT_BASE" HEAD) ||
  refuse "the base $INPUT_BASE and this commit have no history in common here: check out with fetch-depth: 0"

# --- what has changed

patterns=()
while IFS= read -r pattern; do
  if [ -n "$pattern" ]; then patterns+=(":(glob)$pattern"); fi
done <<< "$INPUT_POLICIES"
if [ ${#patterns[@]} -eq 0 ]; then refuse 'the input policies names no pattern'; fi

git diff -z --name-status --find-renames "$base" HEAD -- "${patterns[@]}" > "$pages/changes" ||
  refuse 'git could not list the changes'
old=() new=() # paths side by side; empty where there is none
while IFS= read -r -d '' status; do
  IFS= read -r -d '' path
  case $status in
    A) old+=('') new+=("$path") ;;
    D) old+=("$path") new+=('') ;;
    [RC]*)
      old+=("$path")
      IFS= read -r -d '' path
      new+=("$path")
      ;;
    *) old+=("$path") new+=("$path") ;;
  esac
done < "$pages/changes"

# --- asking gatekeeper

number=0 # of the page in hand: $pages/001.md …
found=0      # 10 once something was found that the inputs fail on
unreviewed=0 # the first other exit code: it outweighs any finding
failures=()  # what failed, in words
page() { printf '%s/%03d.md' "$pages" "$number"; }
begin() { # a new page: its heading, if any; the next answers go to it
  number=$((number + 1))
  printf '\n%s\n\n' "${1:-}" >> "$(page)"
}
name_of() { printf '%s' "${1//[^A-Za-z0-9._\/@+ -]/?}"; } # a path as a heading: it comes from the pull request

# What it is about, then the command line. Sets `code`.
ask() {
  local about=$1
  shift
  GITHUB_STEP_SUMMARY=$(page) GITHUB_OUTPUT=/dev/null gatekeeper "$@" --output=github
  code=$?
  case $code in
    0) ;;
    10)
      found=10
      failures+=("$about")
      ;;
    *)
      local what='not reviewed'
      if [ "$code" -eq 65 ]; then what=refused; fi # a file, a log, or a version that stayed when the content changed
      if [ "$unreviewed" -eq 0 ]; then unreviewed=$code; fi
      failures+=("$about: $what, exit code $code")
      printf '\n**%s: %s**, exit code %s. Why stands in the log of the job.\n' "$about" "$what" "$code" >> "$(page)"
      annotate error "$about: $what, exit code $code; why stands in the log of this step"
      ;;
  esac
}

check=() diff=() backtest=()
if [ "$INPUT_FAIL_ON_CHECK" != error ]; then check+=("--fail-on=$INPUT_FAIL_ON_CHECK"); fi
if [ "$INPUT_FAIL_ON_DIFF" != never ]; then diff+=("--fail-on=$INPUT_FAIL_ON_DIFF"); fi
if [ "$INPUT_FAIL_ON_BACKTEST" != never ]; then backtest+=("--fail-on=$INPUT_FAIL_ON_BACKTEST"); fi
if [ -n "$INPUT_SINCE" ]; then backtest+=("--since=$INPUT_SINCE"); fi
log=$INPUT_LOG
if [ -n "$INPUT_LOG_ARTIFACT" ]; then log=$RUNNER_TEMP/gatekeeper-log/${INPUT_LOG:-decision.ndjson}; fi

for index in "${!new[@]}"; do
  before=${old[index]} after=${new[index]}
  about=$(name_of "${after:-$before}")
  if [ "${after:0:1}" = - ]; then after=./$after; fi # a path, not an option
  if [ -z "$after" ]; then
    begin "## \`$about\` is gone"
    printf 'No rule of it is asked any more.\n' >> "$(page)"
    annotate warning "$about is gone: no rule of it is asked any more"
    if [ "$INPUT_FAIL_ON_DIFF" = loosened ] || [ "$INPUT_FAIL_ON_DIFF" = any ]; then
      found=10
      failures+=("$about is gone")
    fi
    continue
  fi
  begin "## \`$about\`"
  ask "check of $about" policy check "$after" ${check[@]+"${check[@]}"}
  if [ "$code" -ne 0 ] && [ "$code" -ne 10 ]; then continue; fi # it does not load: nothing else can be said
  if [ -n "$before" ]; then
    begin
    ask "diff of $about" policy diff "git:$base:$before" "$after" ${diff[@]+"${diff[@]}"}
  else
    begin 'New: there is nothing to compare it with.'
  fi
  if [ -n "$log" ]; then
    begin
    ask "backtest of $about" policy backtest "$after" "--log=$log" ${backtest[@]+"${backtest[@]}"}
  fi
done

if [ -d "$INPUT_TESTS" ]; then
  begin '## Golden cases'
  ask 'golden cases' policy test "$INPUT_TESTS"
elif [ -n "$INPUT_TESTS" ]; then
  begin "## No golden cases: there is no directory \`$(name_of "$INPUT_TESTS")\`"
fi

# --- one summary, one comment

code=$found result=passed
if [ "$found" -ne 0 ]; then result=failed; fi
if [ "$unreviewed" -ne 0 ]; then code=$unreviewed result=error; fi
number=0 # the page in front
{
  printf '# Policy review: %s\n\n' "$result"
  case ${#new[@]} in
    0) printf 'No policy has changed.\n' ;;
    1) printf '1 policy has changed, compared with %s.\n' "${base:0:12}" ;;
    *) printf '%s policies have changed, compared with %s.\n' "${#new[@]}" "${base:0:12}" ;;
  esac
  for failure in ${failures[@]+"${failures[@]}"}; do printf '* **%s**\n' "$failure"; done
} > "$(page)"

# All pages, whole ones only, as far as $1 bytes go.
within() {
  local left=$1 left_out=0 file size
  for file in "$pages"/*.md; do
    size=$(wc -c < "$file")
    if [ "$size" -le "$left" ]; then
      cat "$file"
      left=$((left - size))
    else
      left_out=$((left_out + 1))
    fi
  done
  if [ "$left_out" -gt 0 ]; then printf '\n%s parts are too long for this place: see the log of the job.\n' "$left_out"; fi
}

comment=$pages/comment-body.txt
{ printf '%s\n' "$MARK" && within "$COMMENT_BYTES"; } > "$comment" || exit 74
within "$SUMMARY_BYTES" >> "${GITHUB_STEP_SUMMARY:-/dev/null}" || exit 74
printf '%s\n' "result=$result" "policies=${#new[@]}" "comment=$comment" >> "$GITHUB_OUTPUT" || exit 74
exit "$code"
