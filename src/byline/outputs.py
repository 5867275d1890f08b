"""Where a run's answers go: a folder that is looked at before any work is done, and written to when it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from byline.answers import check_output, write_answers
from byline.execution import Keep, Verification
from byline.runs import FOLDER, look_for_run


@dataclass(frozen=True)
class Output:
    """A folder for answers, with the run that they come from inside it."""

    folder: Path
    resume: bool = False
    """Go on with the run that is there."""
    overwrite: bool = False
    """Replace what is there."""
    models: bool = True
    trace: bool = False
    evidence: bool = True
    command: tuple[str, ...] | None = None
    """The words by which the run is begun, for its report."""

    @property
    def keep(self) -> Keep:
        """What is kept of the run."""
        return Keep(
            self.folder / FOLDER, self.resume, self.overwrite, self.models, self.trace, self.evidence, self.command,
            answered=True,
        )  # fmt: skip

    def check(self) -> None:
        """Refuse a folder that holds answers already, or can't be written to."""
        begun = look_for_run(self.folder / FOLDER)
        remedy = "go on with its run by --resume" if begun else ""
        check_output(self.folder, self.overwrite or (self.resume and begun), remedy)

    def write(self, result: Verification) -> Path:
        """Write the answers; the path of their file."""
        return write_answers(self.folder, result.answers, result.layout)
