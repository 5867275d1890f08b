"""Names that come from elsewhere: they lead nowhere, any file system can hold them, and a message can show them."""

from __future__ import annotations

import unicodedata

from byline.web.limits import RefusedError

LONGEST_PART = 200
"""Bytes of one part of a name, in UTF-8."""
DEEPEST = 12
"""Parts of a name."""
LONGEST_SHOWN = 80
FORBIDDEN = str.maketrans(dict.fromkeys('<>:"|?*', "-"))
"""Signs that some systems' file names can't hold; a colon would even lead to another drive."""
DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}
"""What no file can be called on Windows, with any ending."""
TURNING = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
"""Signs that let a name look like another, by turning the direction of what follows."""


def plain_path(name: str) -> str:
    """The name of a file with the folders it was in, parts parted by `/`; one that leads elsewhere is refused."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    wrong = ""
    if not parts:
        wrong = "no name"
    elif leads_elsewhere(name):
        wrong = "a name that leads elsewhere"
    elif len(parts) > DEEPEST:
        wrong = "in too many folders"
    elif any(len(part.encode("utf-8", "surrogatepass")) > LONGEST_PART for part in parts):
        wrong = "too long a name"
    elif plain_text(name) != name:
        wrong = "a name with signs that no file should have"
    elif any(part.startswith(".") for part in parts):
        wrong = "a hidden file"
    if wrong:
        raise RefusedError(422, f"{shown(name)}: {wrong}; rename the file")
    return "/".join(parts)


def leads_elsewhere(name: str) -> bool:
    """Whether it begins at a root or a drive, or goes up."""
    parts = name.replace("\\", "/").split("/")
    return not parts[0].strip() or ".." in parts or (len(parts[0]) == 2 and parts[0].endswith(":"))


def plain_text(words: str) -> str:
    """Words without what can't be seen or stored: controls, halves of signs, and signs that turn the direction."""
    return "".join(sign for sign in words if unicodedata.category(sign) not in ("Cc", "Cs") and sign not in TURNING)


def shown(name: str) -> str:
    """A name as a message can hold it."""
    plain = "".join(sign if sign.isprintable() else "�" for sign in name)
    return plain if len(plain) <= LONGEST_SHOWN else f"{plain[: LONGEST_SHOWN - 3]}..."


def one_line(message: str, most: int = 600) -> str:
    """A message on one line, and not a long one."""
    lines = [" ".join(line.split()) for line in plain_lines(message)]
    whole = "; ".join(line for line in lines if line).replace(":; ", ": ")
    return whole if len(whole) <= most else f"{whole[: most - 4]} ..."


def plain_lines(message: str) -> list[str]:
    """The lines of a message, without what can't be seen."""
    return [plain_text(line.replace("\t", " ")) for line in message.splitlines()]


def storable(part: str) -> str:
    """A part of a path as every file system can hold it."""
    plain = part.translate(FORBIDDEN).rstrip(". ") or "-"
    return f"-{plain}" if plain.split(".")[0].strip().lower() in DEVICES else plain


def same_name(path: str) -> str:
    """What two paths have in common that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
