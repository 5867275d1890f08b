"""A page to draw on, and its bytes: the same for the same figure, without a display, without a trace in pyplot."""

from __future__ import annotations

import io
import os
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from byline.errors import BylineError, SettingsError
from byline.figures.names import UNKNOWN, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
CENTIMETRES = 2.54
"""Of an inch."""
RANGES = {"width": (3.0, 120.0), "height": (3.0, 120.0), "font_size": (4.0, 40.0), "dpi": (30, 1200)}
UNITS = {"width": " cm", "height": " cm", "font_size": " points", "dpi": ""}
MOST_PIXELS = 30_000
"""Of a side of a PNG."""
LONGEST_TITLE = 120
FONT = "DejaVu Sans"
FURTHER_FONTS = (
    "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Devanagari", "Arial Unicode MS", "Hiragino Sans",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei", "Droid Sans Fallback", "FreeSans",
)  # fmt: skip
"""For characters that the usual font, which comes with matplotlib, does not have; the first ones that are installed."""
_DRAWING = threading.Lock()
"""matplotlib's settings are one for all threads."""


@dataclass(frozen=True)
class Page:
    """A figure's size and writing."""

    width: float
    """In centimetres."""
    height: float
    title: str = ""
    font_size: float = 9
    """In points."""
    dpi: int = 300
    """Of a PNG, and of what is no line in the others."""

    def __post_init__(self) -> None:
        """Refuse what can't be drawn."""
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                what = name.replace("_", " ")
                raise SettingsError(f"{what} must be from {least:g} to {most:g}{UNITS[name]}, got {value:g}")

    @property
    def points(self) -> tuple[float, float]:
        """Width and height in points, of which 72 are an inch."""
        return self.width / CENTIMETRES * 72, self.height / CENTIMETRES * 72

    def room(self, share: float = 1.0, upright: bool = True) -> float:
        """How many lines of small writing stand in a share of the height, or of the width."""
        return share * self.points[upright] / (self.small * 1.25)

    @property
    def small(self) -> float:
        """The size of small writing, in points."""
        return self.font_size * 0.8


def require_matplotlib() -> None:
    """Refuse to go on where it is not installed."""
    if sys.modules.get("matplotlib"):
        return
    named = os.environ.get("MPLBACKEND")  # an unknown one would be an error of the import; here none is used
    try:
        os.environ["MPLBACKEND"] = "agg"
        import matplotlib  # noqa: F401
    except ImportError:
        raise BylineError("matplotlib is not installed; pip install 'byline[figures]'") from None
    finally:
        del os.environ["MPLBACKEND"]
        if named is not None:
            os.environ["MPLBACKEND"] = named


def is_colour(text: str) -> bool:
    """Whether it is a colour that can be seen: a name, or #rrggbb."""
    from matplotlib.colors import is_color_like

    return text.lower() != "none" and bool(is_color_like(text))


def require_format(suffix: str, path: object) -> str:
    """The format that a file's suffix means."""
    form = suffix.lower().lstrip(".")
    if form not in FORMATS:
        raise SettingsError(
            f"{path}: no figure can be written as {suffix or 'that'}; end the name with .svg, .pdf or .png"
        )
    return form


def render(draw: Callable[[Figure], None], page: Page, form: str) -> bytes:
    """The figure that `draw` makes, as a file's content."""
    require_matplotlib()
    if form == "png" and max(page.width, page.height) / CENTIMETRES * page.dpi > MOST_PIXELS:
        raise SettingsError(f"a PNG of more than {MOST_PIXELS:,} pixels; give a smaller --dpi, or write a .pdf")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with _DRAWING, matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # see _choose_fonts
        matplotlib.rcdefaults()  # whatever the user's own settings are
        settings: Any = matplotlib.rcParams
        settings.update(_style(page))
        size = page.width / CENTIMETRES, page.height / CENTIMETRES
        figure = Figure(figsize=size, dpi=page.dpi, layout="constrained")
        FigureCanvasAgg(figure)
        if page.title:
            figure.suptitle(plain(page.title, LONGEST_TITLE), fontsize=page.font_size * 1.15)
        draw(figure)
        _choose_fonts(figure, form)
        figure.savefig(file, format=form, dpi=page.dpi, metadata=_UNDATED[form])
    return file.getvalue()


_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": "Byline"},
}


def _style(page: Page) -> dict[str, Any]:
    return {
        "font.family": FONT,
        "font.size": page.font_size,
        "axes.titlesize": page.font_size,
        "axes.labelsize": page.font_size,
        "xtick.labelsize": page.small,
        "ytick.labelsize": page.small,
        "legend.fontsize": page.small,
        "legend.title_fontsize": page.small,
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


def _choose_fonts(figure: Figure, form: str) -> None:
    """Give texts further fonts where the usual one lacks a character.

    What none has is replaced, but for SVG: there the fonts of whoever looks at it count.
    """
    from matplotlib import font_manager
    from matplotlib.text import Text

    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and not text.get_text().isascii()]
    usual = {ord("\n"), *_characters(font_manager, FONT)}
    lacking = [text for text in texts if not usual.issuperset(map(ord, text.get_text()))]
    if not lacking:
        return
    installed = set(font_manager.fontManager.get_font_names())
    families = [name for name in FURTHER_FONTS if name in installed]
    there = usual.union(*(_characters(font_manager, name) for name in families))
    for text in lacking:
        text.set_fontfamily([FONT, *families])
        if form != "svg":
            text.set_text(_within(text.get_text(), there))
    if form != "svg":
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                labels = [label.get_text() for label in axis.get_ticklabels()]
                if any(_within(label, there) != label for label in labels):
                    axis.set_ticklabels([_within(label, there) for label in labels])  # else they come back


def _within(text: str, there: set[int]) -> str:
    return "".join(letter if ord(letter) in there else UNKNOWN for letter in text)


def _characters(font_manager: Any, family: str) -> set[int]:
    return set(font_manager.get_font(font_manager.findfont(family)).get_charmap())
