"""The command line: one file a command, each parses, calls one library function and prints."""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, TextIO, cast

import typer

from byline import __version__
from byline.commands import (
    asking,
    attribute,
    calibrate,
    cluster,
    combine,
    compare,
    demo,
    doctor,
    evaluate,
    inspect,
    plot,
    prepare,
    presets,
    reference,
    report,
    rolling,
    runs,
    serve,
    text,
    train,
    verify,
)
from byline.commands.completing import Completing
from byline.errors import printable_lines
from byline.stopping import end_interrupted

app = typer.Typer(
    name="byline",
    no_args_is_help=True,
    cls=Completing,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Aside:
    """What is said beside the results: where it can't be written, it is lost and nothing else is."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, words: str) -> int:
        """Say something, if anybody hears it."""
        with suppress(OSError):
            self._stream.write(words)
        return len(words)

    def flush(self) -> None:
        """Have it said."""
        with suppress(OSError, ValueError):  # which it is where the stream is closed by now
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        """All else is as the stream has it."""
        return getattr(self._stream, name)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"byline {__version__}")
        raise typer.Exit


class _Plain(logging.Formatter):
    """Of a warning, nothing that names in it hold moves a terminal's cursor, or begins a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return printable_lines(super().format(record))


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more of what is done, on stderr.")] = False,
) -> None:
    """Byline weighs who wrote a text.

    Start with [bold]byline demo[/bold], then [bold]byline verify PROBLEMS -o OUT[/bold].
    """
    if not isinstance(sys.stderr, Aside):
        sys.stderr = cast(TextIO, Aside(sys.stderr))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain("byline: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("numba").setLevel(logging.WARNING)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command, ending well when the user interrupts it or the reader of its output goes away."""

    @functools.wraps(command)
    def run(*arguments: object, **options: object) -> None:
        try:
            command(*arguments, **options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            end_interrupted()
        except BrokenPipeError:  # of stdout: stderr has none, see Aside
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest has nowhere to go
            sys.exit(0)
        except SystemExit as error:
            if isinstance(error.__context__, BrokenPipeError):  # rich takes it for a failure
                sys.exit(0)
            raise

    return run


app.command("verify", cls=asking.WithWords)(guarded(verify.verify_command))
app.command("evaluate")(guarded(evaluate.evaluate_command))
app.command("compare")(guarded(compare.compare_command))
app.command("calibrate")(guarded(calibrate.calibrate_command))
app.command("train")(guarded(train.train_command))
app.command("attribute")(guarded(attribute.attribute_command))
app.command("enroll")(guarded(train.enroll_command))
app.command("inspect")(guarded(inspect.inspect_command))
app.command("cluster")(guarded(cluster.cluster_command))
app.command("rolling")(guarded(rolling.rolling_command))
app.command("generate")(guarded(rolling.generate_command))
app.command("report")(guarded(report.report_command))
app.command("explain")(guarded(report.explain_command))
app.command("plot")(guarded(plot.plot_command))
app.command("prepare")(guarded(prepare.prepare_command))
app.command("text")(guarded(text.text_command))
app.command("presets")(guarded(presets.presets_command))
app.command("combine")(guarded(combine.combine_command))
app.command("demo")(guarded(demo.demo_command))
app.command("serve")(guarded(serve.serve_command))
app.command("doctor")(guarded(doctor.doctor_command))
runs_app = typer.Typer(cls=Completing, help="Look into the folders that byline verify wrote to.", no_args_is_help=True)
runs_app.command("show")(guarded(runs.show_command))
app.add_typer(runs_app, name="runs")
reference_app = typer.Typer(
    cls=Completing, help="Build and check texts by other people, to compare with.", no_args_is_help=True
)
reference_app.command("build")(guarded(reference.build_command))
reference_app.command("check")(guarded(reference.check_command))
app.add_typer(reference_app, name="reference")
