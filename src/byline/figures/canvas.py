"""A figure's format, legend and names, and its rendering: the same bytes for the same figure, without a display."""

from __future__ import annotations

import io
import math
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from byline.errors import BylineError, SettingsError
from byline.figures.styles import StyledName, legend_entries, plain_name

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

DrawFunction = Callable[["Figure"], None]

FILE_TYPES = ("svg", "pdf", "png")
CENTIMETERS = 2.54
"""In an inch."""
USUAL = (16.0, 10.0)
LOWEST = 0.7
"""Part of the usual height that a narrow figure keeps."""
RANGES = {"width": (3.0, 120.0), "height": (3.0, 120.0), "font_size": (4.0, 40.0), "dpi": (30, 1200)}
UNITS = {"width": " cm", "height": " cm", "font_size": " points", "dpi": ""}
MAX_PIXELS = 30_000
"""Of a side of a PNG."""
MAX_TITLE = 120
FONT = "DejaVu Sans"
FURTHER_FONTS = (
    "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Devanagari", "Arial Unicode MS", "Hiragino Sans",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei", "Droid Sans Fallback", "FreeSans",
)  # fmt: skip
"""For characters that matplotlib's own font lacks, if they are installed."""
_DRAWING = threading.Lock()
"""matplotlib's settings are one for all threads."""


@dataclass(frozen=True)
class FigureFormat:
    """A figure's size and lettering. Raise SettingsError if a value is out of range."""

    width: float | None = None
    """In centimeters; None, as the kind of figure needs."""
    height: float | None = None
    """In centimeters; None, in proportion to the width."""
    title: str = ""
    font_size: float = 9
    """In points."""
    dpi: int = 300
    """Of a PNG, and of heat maps in the others."""

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise SettingsError(
                    f"{value:g}{UNITS[name]} is out of range",
                    where=name.replace("_", " "),
                    remedy=f"Choose one from {least:g} to {most:g}",
                )

    def fit(self, size: tuple[float, float], fixed_height: bool = False) -> FigureFormat:
        """Return a format with both sides: those that are not set come from a kind's usual size.

        If only the width is set the height keeps its proportion, unless it is fixed, but does not become too low.
        """
        width, height = size
        if self.width is not None and not fixed_height:
            height *= max(LOWEST, self.width / width)
        return replace(self, width=self.width or width, height=self.height or height)

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (self.width or USUAL[0]) / CENTIMETERS, (self.height or USUAL[1]) / CENTIMETERS

    @property
    def points(self) -> tuple[float, float]:
        """Width and height in points, of which 72 are an inch."""
        width, height = self.inches
        return width * 72, height * 72

    def room(self, share: float = 1.0, upright: bool = True) -> float:
        """Return how many lines of small lettering fit into a share of the height, or of the width."""
        return share * self.points[upright] / (self.small * 1.25)

    @property
    def small(self) -> float:
        """The size of small lettering, in points."""
        return self.font_size * 0.8


def require_matplotlib() -> None:
    """Raise BylineError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BylineError("matplotlib is not installed", remedy="Run pip install 'byline[figures]'") from None
    except ValueError as error:  # of a setting, such as a backend that does not exist
        raise BylineError(f"matplotlib can't be loaded ({error})", remedy="Check $MPLBACKEND") from None


def file_type(path: Path) -> str:
    """Return the format that a file's suffix means."""
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in FILE_TYPES:
        raise SettingsError(
            "is not a supported figure file name", where=path, remedy="End the name with .svg, .pdf or .png"
        )
    return suffix


def render(draw: DrawFunction, format: FigureFormat, suffix: str) -> bytes:
    """Return the figure that `draw` makes as the content of a file."""
    require_matplotlib()
    if suffix == "png" and max(format.inches) * format.dpi > MAX_PIXELS:
        raise SettingsError(
            f"a PNG would have more than {MAX_PIXELS:,} pixels", remedy="Choose a smaller {dpi}, or write a .pdf"
        )
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with _DRAWING, matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # drawn as a box
        matplotlib.rcdefaults()  # whatever the user's own settings are
        settings: Any = matplotlib.rcParams
        settings.update(_settings(format))
        figure = Figure(figsize=format.inches, dpi=format.dpi, layout="constrained")
        FigureCanvasAgg(figure)
        if format.title:
            figure.suptitle(plain_name(format.title, MAX_TITLE), fontsize=format.font_size * 1.15)
        draw(figure)
        figure.savefig(file, format=suffix, dpi=format.dpi, metadata=_UNDATED[suffix])
    return file.getvalue()


_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": "Byline"},
}


def _settings(format: FigureFormat) -> dict[str, Any]:
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return {
        "font.family": [FONT, *(name for name in FURTHER_FONTS if name in installed)],
        "font.size": format.font_size,
        "axes.titlesize": format.font_size,
        "axes.labelsize": format.font_size,
        "xtick.labelsize": format.small,
        "ytick.labelsize": format.small,
        "legend.fontsize": format.small,
        "legend.title_fontsize": format.small,
        "legend.frameon": False,
        "legend.handlelength": 2.6,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "lines.linewidth": 1.2,
        "hatch.linewidth": 0.4,
        "text.parse_math": False,  # a $ in a name is a $
        "svg.fonttype": "none",
        "svg.hashsalt": "byline",
        "pdf.fonttype": 42,
    }


def write_legend(
    figure: Figure, handles: Sequence[Any], labels: Sequence[str], format: FigureFormat, most: int = 24
) -> Any:
    """Write a legend below the figure in as many columns as fit; entries beyond `most` are only counted."""
    from matplotlib.lines import Line2D

    if not handles:
        return None

    rows, names = list(handles[:most]), list(labels[:most])
    if len(handles) > most:
        rows.append(Line2D([], [], linestyle="none"))
        names.append(f"and {len(handles) - most} more")
    longest = max(map(len, names))
    columns = max(1, min(len(names), int(format.points[0] / (format.small * (longest * 0.62 + 5)))))
    legend = figure.legend(rows, ["-"] * len(rows), loc="outside lower center", ncols=columns)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)  # given as a label, a name that begins with _ would be left out
    return legend


def group_handles(styled: Sequence[StyledName]) -> tuple[list[Any], list[str]]:
    """Return what a legend shows of groups."""
    from matplotlib.lines import Line2D

    groups = legend_entries(styled)
    handles = [
        Line2D([], [], linestyle="none", marker=each.marker, color=each.color, markersize=4.5) for each in groups
    ]
    return handles, [each.group for each in groups]


def write_names(axis: Axis, styled: Sequence[StyledName], room: float, rotation: float = 0) -> None:
    """Write names along an axis, evenly as many as fit."""
    places = range(0, len(styled), max(1, math.ceil(len(styled) / max(1.0, room))))
    axis.set_ticks(list(places), labels=[styled[place].label for place in places], rotation=rotation)


def is_varied(styled: Sequence[StyledName]) -> bool:
    """Return whether names have different colors or groups."""
    return len({(each.color, each.group) for each in styled}) > 1
