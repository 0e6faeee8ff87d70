"""A pull request that changes policies, the review of it, and a stand-in for gatekeeper that is told how to end."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.actions.runner import PROGRAMS
from tests.actions.site import Site, git, script, without_gatekeeper

if TYPE_CHECKING:
    from pathlib import Path

    from tests.actions.runner import Job

MARK = "<!-- gatekeeper policy-review -->"
WORKFLOW = """
on: pull_request
jobs:
  review:
    runs-on: ubuntu-latest
    steps:
      - name: Review
        id: review
        uses: ./.github/actions/policy-review
        with: INPUTS
"""
# Notes what it was asked, writes a page as gatekeeper does, and ends as a file named like the command or like the
# command and the policy says.
STAND_IN = """
echo "$@" >> "$CALLS"
file=$(basename "$3")
if [ "$2" = diff ]; then file=$(basename "$4"); fi
file=$(printf %q "$file")
echo "::notice title=stand-in::$2 of $file"
printf 'page: %s of %s\\n%s' "$2" "$file" "$FILL" >> "$GITHUB_STEP_SUMMARY"
for name in "$2-$file" "$2"; do
  if [ -e "$CODES/$name" ]; then exit "$(cat "$CODES/$name")"; fi
done
exit 0
"""


@dataclass
class Review:
    """A pull request that changes policies of the team's repository, and how its review is told to answer."""

    site: Site
    base: str
    codes: dict[str, int] = field(default_factory=dict)
    fill: str = ""

    @property
    def work(self) -> Path:
        """The working copy of the pull request's author."""
        return self.site.base / "work"

    def change(self, path: str, text: str | None) -> None:
        """Write a file, or remove it."""
        target = self.work / path
        if text is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def run(self, *, gate: str | None = STAND_IN, **inputs: str) -> Job:
        """Commit the changes, and carry the action out on them; *gate* None is the real gatekeeper."""
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "--allow-empty", "-m", "Change")
        git(self.work, "push", "--quiet", "origin", "HEAD:pull")
        temporary = self.site.base / "runner"
        temporary.mkdir()
        path = PROGRAMS if gate is None else without_gatekeeper(temporary / "bin")
        if gate:
            script(temporary / "bin/gatekeeper", gate)
        codes = self.site.base / "codes"
        codes.mkdir()
        for name, code in self.codes.items():
            (codes / name).write_text(str(code))
        checkout = self.site.base / "reviewed"
        clone = ["git", "clone", "--quiet", "--branch", "pull", str(self.site.origin), str(checkout)]
        subprocess.run(clone, check=True)
        event = {"pull_request": {"base": {"sha": self.base}}}
        return self.site.workflow(WORKFLOW.replace("INPUTS", json.dumps(inputs))).run(
            checkout,
            temporary,
            path=path,
            environment={"CALLS": str(self.site.base / "calls"), "CODES": str(codes), "FILL": self.fill},
            github={"event": event, "run_id": "1", "token": "t"},
        )

    @property
    def calls(self) -> list[str]:
        """What gatekeeper was asked, the commit of the base as BASE."""
        path = self.site.base / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.replace(self.base, "BASE").removesuffix(" --output=github") for line in lines]

    def comment(self, job: Job) -> str:
        """The body of the comment."""
        with open(job.outputs("review")["comment"], encoding="utf-8") as file:
            return file.read()


def opened(directory: Path) -> Review:
    """In a repository with three policies and a directory of golden cases, before any change."""
    site = Site(directory)
    site.found()
    for name in ("rollout.json", "search.json", "mail.yaml"):
        (site.base / "work/policies" / name).write_text("{}\n" + "a line that stays\n" * 20)
    (site.base / "work/policies/golden").mkdir()
    (site.base / "work/policies/golden/one.json").write_text("{}\n")
    site.commit("Policies")
    return Review(site, git(site.base / "work", "rev-parse", "HEAD").strip())
