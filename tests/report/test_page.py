"""The report's page, as text and in a real browser: without a network, by keyboard, on paper, under attack."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest

import report_samples
from browsers import WatchedPages, do_without, seriously_wrong
from byline.report.page import KINDS, SCRIPTS, STYLES, pack, render
from byline.report.verification import verification_report
from paths import ROOT
from report_samples import AUTHORS, data_of, unpack

Open = Callable[..., Any]


@cache
def sample(kind: str) -> dict[str, Any]:
    makers: dict[str, Callable[[], dict[str, Any]]] = {
        "verification": report_samples.verification,
        "large": report_samples.many_problems,
        "hostile": report_samples.hostile,
        "cut clustering": lambda: report_samples.small_report("clustering", cut=2.5),
        "real": lambda: real(beside=False),
        "beside": lambda: real(beside=True),
        "quoted": quoted,
        "alone": alone,
        "leaning": leaning,
        "partial": partial_attribution,
        **{f"sparse {kind}": partial(report_samples.sparse, kind) for kind in KINDS},
    }
    for small in ("attribution", "clustering", "rolling"):
        makers[small] = partial(report_samples.small_report, small)
        makers[f"hostile {small}"] = partial(report_samples.hostile_report, small)
    return makers[kind]()


def change_first(found: dict[str, Any], name: str = "problems", **values: Any) -> dict[str, Any]:
    """The same with other values in the first problem or document."""
    first, *others = found[name]
    return {**found, name: [{**first, **values}, *others]}


def quoted() -> dict[str, Any]:
    """The first problem's texts share a passage, in the middle of words in one, and where the other has no words."""
    found = report_samples.verification()
    texts = unpack(found["problems"][0]["packed"])
    texts["documents"][1]["words"] = None
    texts["shared"] = [{"document": 0, "begin": 203, "end": 330}, {"document": 1, "begin": 10, "end": 137}]
    return change_first(found, packed=pack(texts))


def alone() -> dict[str, Any]:
    """One question, with warnings of the run and of its own, of which no command was kept."""
    found = change_first(report_samples.one_problem(), warnings=["Very short."])
    return {**found, "warnings": ["The reference is small.", f"{found['problems'][0]['id']}: Very short."]}


def leaning() -> dict[str, Any]:
    """The first problem is decided without support."""
    return change_first(report_samples.verification(), leaning=True)


def partial_attribution() -> dict[str, Any]:
    """The first document is by none of the authors, and its texts were not kept."""
    return change_first(sample("attribution"), "documents", author=None, packed=None)


def real(beside: bool) -> dict[str, Any]:
    """What a report of a real run shows."""
    with TemporaryDirectory() as place:
        run = report_samples.real_run(Path(place), beside)
        return verification_report(run, run, "today", "a real run")


# As text


def test_what_is_packed_comes_back_and_is_the_same_each_time() -> None:
    value = {"text": "é \U0001f600 \u2028", "words": [[0, 1, -0.5, 1.0, None]]}
    assert unpack(pack(value)) == value
    assert pack(value) == pack(value)


def test_half_a_surrogate_pair_becomes_one_replacement_so_that_offsets_stay() -> None:
    text = "a\ud83d\ude00b"
    assert unpack(pack(text)) == "a\ufffd\ufffdb"
    assert "\ufffd" in render({**sample("clustering"), "title": text})


@pytest.mark.parametrize("kind", ["verification", "hostile"])
def test_the_page_holds_the_data_unharmed(kind: str) -> None:
    page = render(sample(kind))
    page.encode()
    whole = json.dumps(sample(kind), ensure_ascii=False)
    assert data_of(page) == json.loads(re.sub("[\ud800-\udfff]", "\ufffd", whole))


def test_nothing_of_a_text_ends_the_data_or_begins_a_comment() -> None:
    page = render(sample("hostile"))
    assert page.count("</script>") == 2
    assert page.count("<script") == 2
    inside = page.split('id="report-data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029\x00") & set(inside)


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    page = render(sample("rolling"))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def test_the_assets_name_no_address_and_make_no_markup_of_text() -> None:
    folder = files("byline.report") / "assets"
    names = {entry.name for entry in folder.iterdir()}
    assert names == {*SCRIPTS, *STYLES}
    for name in names:
        content = (folder / name).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in content, name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|</script", content), name


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        render({**sample("clustering"), "links": [[0, 1, float("nan")]]})


def test_a_hundred_problems_take_less_than_five_megabytes() -> None:
    assert len(render(sample("large")).encode()) < 5_000_000


# In a browser


def test_a_browser_that_is_missing_is_no_reason_to_skip_where_it_is_required() -> None:
    with pytest.raises(pytest.fail.Exception, match="no browser, and BYLINE_BROWSER=required"):
        do_without("no browser", required=True)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        do_without("no browser", required=False)


def test_ci_requires_it() -> None:
    commands = (ROOT / ".ci" / "run").read_text("utf-8")
    assert commands.index("export BYLINE_BROWSER=required") < commands.index("make test")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def one_page(browser: Any) -> Iterator[tuple[Any, WatchedPages]]:
    """A page that tests use one after another: a new one means a new process of the browser, and its second of work."""
    seen = WatchedPages("file:")
    page = seen.new_page(browser, offline=True)
    yield page, seen
    page.context.close()


@pytest.fixture
def open_report(browser: Any, folder: Path, one_page: tuple[Any, WatchedPages]) -> Iterator[Open]:
    """Opens a sample with the network off, as if never opened before; errors, dialogues and requests of any kind fail
    the test.
    """
    shared, seen = one_page
    seen.errors.clear()
    seen.strange.clear()
    contexts = []

    def open_page(
        kind: str,
        fragment: str = "",
        width: int = 1280,
        before: str = "",
        color_scheme: str = "light",
        reduced_motion: str = "no-preference",
    ) -> Any:
        path = folder / f"{kind}.html"
        if not path.exists():
            path.write_text(render(sample(kind)), encoding="utf-8")
        page = seen.new_page(browser, before, offline=True) if before else shared
        if before:
            contexts.append(page.context)
        else:
            leave(page)
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(media="null", color_scheme=color_scheme, reduced_motion=reduced_motion)
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    leave(shared)
    assert seen.errors == seen.strange == []


def leave(page: Any) -> None:
    """Nothing stays of what was shown, nor of what was chosen."""
    if page.url != "about:blank":
        page.evaluate("localStorage.clear()")
        page.goto("about:blank")
        page.mouse.move(0, 0)


def first_column(page: Any) -> list[str]:
    return page.eval_on_selector_all(
        "table.sorted tbody tr:not([hidden]) th", "all => all.map((one) => one.textContent)"
    )


def focused(page: Any, code: str) -> Any:
    return page.evaluate(f"(() => {{ const it = document.activeElement; return {code}; }})()")


def overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("kind", [*KINDS, "beside", "real", *(f"sparse {kind}" for kind in KINDS)])
def test_it_opens_with_the_network_off(open_report: Open, kind: str) -> None:
    page = open_report(kind)
    assert page.inner_text("h1") == sample(kind)["title"]
    assert page.inner_text(".conclusion") == sample(kind)["conclusion"]
    assert page.locator("#s-provenance code").first.inner_text() == sample(kind)["provenance"]["command"]
    for svg in page.query_selector_all("svg[role=img]"):
        named = svg.evaluate(
            "it => it.getAttribute('aria-labelledby').split(' ').map((id) => document.getElementById(id).textContent)"
        )
        assert all(named)
    text = page.evaluate("document.body.innerText")
    assert "!" not in re.sub(r"(?s)\bThe text\b.*", "", text)
    assert not re.search(r"\b(undefined|NaN|null|Infinity)\b|\[object", text)
    if kind == "sparse verification":  # one problem alone is open at once
        page.get_by_role("link", name="Overview").click()
        page.wait_for_selector("a.open", state="visible")
    if page.locator("a.open").count():
        page.locator("a.open").first.click()
        page.wait_for_selector("#s-problem [aria-busy]", state="detached")
        text = page.inner_text("#s-problem")
        assert not re.search(r"\b(undefined|NaN|null|Infinity)\b|\[object", text)


def test_columns_are_sorted_by_their_buttons_either_way(open_report: Open) -> None:
    page, problems = open_report("verification"), sample("verification")["problems"]
    head = page.locator("th", has=page.get_by_role("button", name="Answer"))
    page.get_by_role("button", name="Answer").click()
    assert head.get_attribute("aria-sort") == "descending"
    answers = {problem["id"]: problem["answer"] for problem in problems}
    values = [answers[name] for name in first_column(page)]
    assert values == sorted(values, reverse=True)
    page.get_by_role("button", name="Answer").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [answers[name] for name in first_column(page)] == sorted(values)
    assert page.locator("#s-problems [aria-sort]").count() == 1
    heads = page.locator("#s-problems thead th")
    for place in range(heads.count()):
        heads.nth(place).get_by_role("button").click()
        assert heads.nth(place).get_attribute("aria-sort") in ("ascending", "descending")
    assert "sorted by warnings" in page.inner_text("#s-problems [role=status]")


def test_rows_are_filtered_by_words_and_by_verdict_and_counted_aloud(open_report: Open) -> None:
    page, problems = open_report("verification"), sample("verification")["problems"]
    status = page.locator("#s-problems [role=status]")
    page.get_by_label("Find").fill("en00 UNKNOWN.txt")
    assert len(first_column(page)) == 9
    assert status.inner_text().startswith("9 of 12 problems shown")
    page.get_by_label("Find").fill("")
    page.get_by_label("Verdict", exact=True).select_option(label="same author")
    assert set(first_column(page)) == {problem["id"] for problem in problems if problem["verdict"] == "same"}
    page.get_by_label("Find").fill("nobody")
    assert first_column(page) == []
    assert status.inner_text().startswith("0 of 12 problems shown")


COUNT_UNPACKINGS = """window.unpackings = 0; const Real = DecompressionStream;
window.DecompressionStream = class extends Real { constructor(...all) { super(...all); window.unpackings += 1; } };"""


def test_a_problem_opens_from_the_table_and_by_its_address_and_the_back_button_goes_back(open_report: Open) -> None:
    page = open_report("verification", before=COUNT_UNPACKINGS)
    assert page.evaluate("window.unpackings") == 0
    page.get_by_role("link", name="EN002").click()
    page.wait_for_selector(".text")
    assert page.evaluate("window.unpackings") == 1
    assert focused(page, "it.textContent") == "EN002"
    assert page.title().startswith("EN002")
    assert not page.locator("#s-problems").is_visible()
    assert page.locator(".document.known").count() == 2
    page.get_by_role("link", name="Next: EN003").click()
    page.wait_for_selector("h2:has-text('EN003')")
    page.wait_for_selector(".text")
    page.go_back()
    page.wait_for_selector("h2:has-text('EN002')")
    page.go_back()
    page.wait_for_selector("#s-problems", state="visible")
    assert focused(page, "it.textContent") == "EN002"
    assert page.locator("#s-problem").is_hidden()
    page.evaluate("location.hash = '#EN007'")
    page.wait_for_selector("h2:has-text('EN007')")
    shown = page.inner_text("#s-problem")
    for part in (
        sample("verification")["problems"][6]["statement"],
        "Strongest passages for the same author",
        "don't add up",
    ):
        assert part in shown


def test_one_problem_alone_is_open_at_once_and_the_overview_can_be_reached(open_report: Open) -> None:
    page, report_data = open_report("alone"), sample("alone")
    assert page.locator("#s-problem").is_visible()
    assert page.locator(".overview").is_hidden()
    assert page.locator("#s-problem .warning li").all_inner_texts() == ["The reference is small.", "Very short."]
    page.get_by_role("link", name="Overview").click()
    page.wait_for_selector(".overview", state="visible")
    assert page.locator("#s-problem").is_hidden()
    assert page.locator("#s-provenance").is_visible()
    page.go_back()
    page.wait_for_selector("#s-problem", state="visible")
    page.goto(page.url.split("#")[0] + "#s-provenance")
    page.reload()
    assert page.locator(".overview").is_visible()
    page.goto(page.url.split("#")[0] + hash_of(report_data["problems"][0]["id"]))
    page.wait_for_selector("#s-problem", state="visible")


def hash_of(name: str) -> str:
    return f"#{quote(name, safe='')}"


def test_what_nothing_supports_only_leans(open_report: Open) -> None:
    page, (lean, *_) = open_report("leaning"), sample("leaning")["problems"]
    said = {"same": "leans to the same author", "another": "leans to another author"}[lean["verdict"]]
    assert said in page.locator("tr", has=page.locator(f"a.open[data-id={lean['id']}]")).inner_text()
    page.get_by_label("Verdict", exact=True).select_option(said)
    assert first_column(page) == [lean["id"]]
    page.locator("a.open:visible").click()
    assert page.locator("#s-problem .verdict").first.inner_text() == said


def test_a_template_of_a_command_is_called_one(open_report: Open) -> None:
    page = open_report("alone", "#s-provenance")
    assert "The command itself was not kept. This is a template" in page.inner_text("#s-provenance")
    page.get_by_role("button", name="Copy the template").click()
    assert "template" not in open_report("rolling").inner_text("#s-provenance")


def test_a_word_has_a_color_and_a_line_and_shows_its_bits_when_pointed_at(open_report: Open) -> None:
    page = open_report("verification", "#EN001")
    page.wait_for_selector(".text")
    assert focused(page, "it.textContent") == "EN001"
    style = "it => { const s = getComputedStyle(it); return [s.textDecorationLine, s.textDecorationStyle]; }"
    assert page.locator(".text .w.for.l4").first.evaluate(style) == ["underline", "solid"]
    assert page.locator(".text .w.against.l4").first.evaluate(style) == ["underline", "dotted"]
    page.locator(".unknown .w.l5").first.hover()
    tip = page.get_by_role("tooltip")
    assert re.search(r"\d\.\d\d bits for (the same|another) author", tip.inner_text())
    assert "of the members agree" in tip.inner_text()
    page.mouse.move(2, 2)
    tip.wait_for(state="hidden")
    guessed = page.locator(".unknown .w").nth(3)
    for _ in range(12):
        guessed.click()
        if "plain count" in (said := tip.inner_text()):
            break
        page.keyboard.press("ArrowRight")
        guessed = page.locator(".unknown .w:focus")
    assert re.search(r"plain count of letters in the known texts alone, what follows .* would be\s+\S+ \d+%", said)
    assert "The bits come from the members, not from this count" in said


def test_a_passage_is_brought_into_view_and_marked(open_report: Open) -> None:
    page = open_report("verification", "#EN001", reduced_motion="reduce")
    passage = page.locator("button.passage").last
    excerpt = passage.locator(".excerpt").inner_text()
    passage.click()
    lit = page.eval_on_selector_all(".lit", "all => all.map((one) => one.textContent).join('')")
    assert excerpt.rstrip("…") in lit
    assert page.locator(".lit").first.evaluate(
        "it => { const box = it.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; }"
    )


def test_a_passage_that_both_sides_share_is_listed_and_marked(open_report: Open) -> None:
    page = open_report("quoted")
    first = sample("quoted")["problems"][0]
    page.evaluate(f"location.hash = '#{first['id']}'")
    texts = unpack(first["packed"])["documents"]
    box = page.locator(".quoted-passages")
    assert box.locator("h4").inner_text() == "Passages that both sides share"
    assert box.locator("button").count() == 2
    assert "no evidence of authorship" in box.inner_text()
    marked = page.locator(".text").evaluate_all(
        "all => all.map((text) => [...text.querySelectorAll('.quoted')].map((each) => each.textContent).join(''))"
    )
    whole = page.locator(".text").evaluate_all("all => all.map((text) => text.textContent)")
    by_text = dict(zip(whole, marked, strict=True))
    assert texts[0]["text"][203:330] in by_text[texts[0]["text"]]  # and the rest of its first and last words
    assert by_text[texts[1]["text"]] == texts[1]["text"][10:137]
    page.locator(".text .w.quoted").first.hover()
    assert "Part of a passage that both sides share" in page.locator(".tip").inner_text()
    box.locator("button").nth(1).click()
    assert page.locator(".lit").count() >= 1


def test_all_of_it_goes_by_keyboard_alone(open_report: Open) -> None:
    page = open_report("verification")
    press = page.keyboard.press
    press("Tab")
    assert focused(page, "it.className") == "skip"
    press("Enter")
    page.wait_for_selector("#s-main:focus")

    def tab_to(selector: str, most: int = 60) -> int:
        for presses in range(1, most):
            press("Tab")
            if focused(page, f"it.matches({selector!r})"):
                return presses
        raise AssertionError(f"{selector} is not reached by {most} tabs")

    tab_to("input[type=search]")
    tab_to("button.sort")
    press("Enter")
    assert page.locator("#s-problems th[aria-sort]").first.get_attribute("aria-sort") == "descending"
    tab_to("a.open")
    press("Enter")
    page.wait_for_selector(".text")
    tab_to("button.passage")
    press("Enter")
    assert page.locator(".lit").count() > 3
    assert focused(page, "it.matches('.text .w')")
    tip = page.get_by_role("tooltip")
    press("ArrowRight")
    assert tip.is_visible()
    assert focused(page, "it.getAttribute('aria-describedby')") == "s-tip"
    where = focused(page, "it.getBoundingClientRect().top + it.closest('.text').scrollTop")
    press("ArrowDown")
    assert focused(page, "it.getBoundingClientRect().top + it.closest('.text').scrollTop") > where
    press("Home")
    press("n")
    assert focused(page, "/l[345]/.test(it.className)")
    press("Escape")
    assert tip.is_hidden()
    assert page.locator(".text [tabindex]").count() == 3  # one stop for each text
    tab_to("summary", most=12)
    press("Enter")
    assert focused(page, "it.parentElement.open")
    seen = 0
    while not focused(page, "it === document.body") and seen < 60:
        press("Tab")
        seen += 1
    assert seen < 60  # there is a way out
    page.go_back()
    page.wait_for_selector("#s-problems", state="visible")
    assert focused(page, "it.className") == "open"


def test_the_heat_map_is_read_by_arrow_keys_and_by_pointer(open_report: Open) -> None:
    page, (heat,) = open_report("verification"), sample("verification")["heatmaps"]
    page.locator(".heat").focus()
    page.keyboard.press("ArrowRight")
    readout = page.locator(".readout")
    assert "unknown text of problem EN001, known texts of problem EN002" in readout.inner_text()
    assert f"{heat['values'][0][1]:.2f}".replace("-", "−") in readout.inner_text()
    page.keyboard.press("ArrowLeft")
    assert "(asked about)" in readout.inner_text()
    page.locator(".heat canvas").hover(position={"x": 150, "y": 150})
    assert readout.inner_text().count("EN0") == 2


def test_the_heat_maps_legend_says_that_values_go_on_beyond_it(open_report: Open) -> None:
    page, (heat,) = open_report("verification"), sample("verification")["heatmaps"]
    values = sorted(value for row in heat["values"] for value in row if value is not None)
    low, high = (values[round((len(values) - 1) * share)] for share in (0.01, 0.99))
    assert values[0] < low < high < values[-1]
    legend = page.locator(".heat-legend").inner_text()
    assert f"\u2264 {low:.2f}".replace("-", "\u2212") in legend
    assert f"\u2265 {high:.2f}" in legend


def test_languages_have_a_heat_map_and_a_line_each(open_report: Open) -> None:
    page, report_data = open_report("real"), sample("real")
    titles = page.eval_on_selector_all("figure:has(.heat) h3", "all => all.map((one) => one.textContent)")
    assert titles == ["Heat map of the matrix: english", "Heat map of the matrix: greek"]
    figure = page.locator("figure", has=page.get_by_role("heading", name="Where the problems lie"))
    assert figure.locator("svg line.decision").count() == 2
    for line in report_data["decisions"]:
        own = [each["score"] for each in report_data["problems"] if each["language"] == line["language"]]
        right = sum(score > line["center"] for score in own)
        said = f"{line['language']} {line['center']:.2f}, {right} of {len(own)} to the right of it"
        assert said in figure.locator("figcaption").inner_text()


def test_the_page_of_a_real_run_says_what_its_data_does(open_report: Open) -> None:
    page, report_data = open_report("real"), sample("real")
    assert len(first_column(page)) == len(report_data["problems"]) == 15
    charts = page.inner_text("#s-charts")
    assert "Of 15 problems. 1 problem without a score is left out" in charts
    for value, low, high in report_data["measures"].values():
        assert re.search(rf"\s{value:.3f}\s+{low:.3f} to {high:.3f}", charts)
    assert page.locator(".heat").count() == 2
    assert "EN091: not answered" in page.inner_text("#s-limits")
    page.evaluate("location.hash = '#EN090'")
    page.wait_for_selector(".text .w.l5")
    row = next(each for each in report_data["problems"] if each["id"] == "EN090")
    assert row["statement"] in page.inner_text("#s-problem")
    (figure,) = page.locator("figure", has=page.get_by_role("heading", name="Beside the others")).all()
    said = figure.locator("figcaption").inner_text()
    assert f"({row['score']:.2f}, the line)".replace("-", "\u2212") in said
    assert f"{row['cohort']['below']} of {row['cohort']['count']} are less alike" in said
    check_words(page, row["packed"])
    page.locator(".unknown .w.l5").first.hover()
    assert "bits" in page.get_by_role("tooltip").inner_text()


def test_the_page_of_a_real_run_beside_a_reference(open_report: Open) -> None:
    page, report_data = open_report("beside", "#EN002"), sample("beside")
    row = next(each for each in report_data["problems"] if each["id"] == "EN002")
    figure = page.locator("figure", has=page.get_by_role("heading", name="Beside the reference"))
    said, shown = figure.locator("figcaption").inner_text(), figure.locator("svg").text_content()
    assert "in standard deviations" in said
    assert figure.locator("svg line.own").count() == len(row["reference"]["members"])
    for member in row["reference"]["members"]:
        own = f"{member['own']:.2f}".replace("-", "\u2212")
        assert f"{own}; {member['below']} of {member['count']} lower" in shown
    assert page.get_by_role("heading", name="What each member says").count() == 0
    page.wait_for_selector(".text .w.l5")
    check_words(page, row["packed"])


def test_texts_are_named_by_the_beginning_of_their_hash_and_the_whole_is_at_hand(open_report: Open) -> None:
    page, report_data = open_report("real"), sample("real")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    hashes = [digest for texts in report_data["provenance"]["texts"].values() for _, digest in texts]
    table = page.locator("#s-provenance table", has_text="Texts and their SHA-256")
    assert table.locator("code").evaluate_all("all => all.map((one) => one.title)") == hashes
    assert table.locator("code").all_inner_texts() == [f"{digest[:16]}\u2026" for digest in hashes]


@pytest.mark.parametrize(
    ("kind", "fragment"),
    [
        *((kind, "") for kind in (*KINDS, "hostile", "real")),
        ("verification", "#EN001"),
        ("beside", "#EN001"),
        ("attribution", f"#letter to {AUTHORS[0]}"),
    ],
)
def test_a_narrow_screen_scrolls_down_only(open_report: Open, kind: str, fragment: str) -> None:
    page = open_report(kind, fragment, width=320)
    if fragment:
        page.wait_for_selector(".text")
        page.locator(".text .w.l5").first.click()
        assert page.get_by_role("tooltip").is_visible()
    assert overflow(page) == 0
    small = page.eval_on_selector_all(
        "svg.chart text",
        "all => all.map((one) => one.getBoundingClientRect().height).filter((tall) => tall && tall < 8).length",
    )
    assert small == 0


def test_an_attributed_document_shows_its_ranking_and_its_text(open_report: Open) -> None:
    page, document = open_report("attribution"), sample("attribution")["documents"][1]
    page.evaluate("name => { location.hash = encodeURIComponent(name); }", document["name"])
    page.wait_for_selector(".text .w.for")
    ranked = page.eval_on_selector_all("#s-problem tbody th bdi", "all => all.map((one) => one.textContent)")
    assert ranked[: len(document["ranking"])] == [author for author, *_ in document["ranking"]]
    first, second = (author for author, *_ in document["ranking"][:2])
    assert f"Strongest passages for {first}" in page.inner_text("#s-problem")
    known = unpack(document["packed"])["documents"][1:]
    assert page.locator(".texts.two .known").count() == len(known)
    assert page.locator(".texts.two .unknown").count() == 1
    assert f"full color from {known[0]['scale']:.1f} bits on" in page.locator(".known").first.inner_text()
    page.get_by_text("What each member adds to the sums").click()
    assert page.locator("#s-problem details tbody tr").first.inner_text().split()[-1].startswith(("+", "\u2212", "0"))
    page.get_by_label(f"{second}, who comes next").check()
    page.wait_for_selector(f"text=Strongest passages for {first} rather than {second}")
    assert page.locator(".known").count() == 0


def test_a_document_by_none_and_without_its_texts_says_so(open_report: Open) -> None:
    page, document = open_report("partial"), sample("partial")["documents"][0]
    page.get_by_label("Author", exact=True).select_option(label="none of these")
    assert first_column(page) == [document["name"]]
    page.locator("a.open:visible").click()
    page.wait_for_selector("text=were not kept for this report")


def test_clusters_show_their_texts_their_links_and_the_tree(open_report: Open) -> None:
    page, report_data = open_report("clustering"), sample("clustering")
    assert page.locator(".cluster").count() == 3
    labels = page.eval_on_selector_all("#s-charts svg text title", "all => all.map((one) => one.textContent)")
    assert labels == [
        f"{report_data['names'][n]}, cluster {report_data['labels'][n] + 1}" for n in report_data["tree"]["order"]
    ]
    assert page.locator("#s-charts svg .branch").count() == len(report_data["names"]) - 1
    assert page.locator("#s-charts svg .decision").count() == 0  # no link was asked for
    one, other, link, score = report_data["links"][0]
    strongest = page.locator("#s-links tbody tr").first.inner_text().split("\t")
    names = [report_data["names"][one], report_data["names"][other]]
    assert strongest[:5] == [*names, f"+{link:.2f}", f"{score:.3f}", "yes"]
    assert f"{report_data['threshold']:.2f} is just enough" in page.locator("#s-links caption").inner_text()


def test_a_link_that_was_asked_for_is_a_line_in_the_tree(open_report: Open) -> None:
    page = open_report("cut clustering")
    page.locator("#s-charts").scroll_into_view_if_needed()
    assert page.locator("#s-charts svg .decision").count() == 1
    assert "Joining ended at 2.50, the line." in page.inner_text("#s-charts")


def test_two_linked_texts_stand_side_by_side_and_a_text_alone_by_itself(open_report: Open) -> None:
    page, report_data = open_report("clustering"), sample("clustering")
    pair = report_data["pairs"][1]
    page.get_by_role("link", name=f"show what speaks for {pair['id']}").click()
    page.wait_for_selector(".texts.two .text .w")
    shown = page.inner_text("#s-problem")
    assert (pair["links"], pair["stronger"]) == (45, 1)
    assert "Of 45 pairs 1 has a stronger link." in shown
    assert "Strongest passages for belonging together" in shown
    assert page.locator(".texts.two article").count() == 2
    assert pair["warnings"][0] in shown
    page.locator("#s-problem").get_by_role("link", name=report_data["names"][pair["one"]], exact=True).click()
    page.wait_for_selector(".text.long")
    texts = unpack(report_data["texts"][pair["one"]]["packed"])
    assert page.locator(".text.long").evaluate("it => it.textContent") == texts["text"]


def test_a_text_is_shown_by_its_stretches_and_each_is_found_from_the_table(open_report: Open) -> None:
    page, report_data = open_report("rolling", reduced_motion="reduce"), sample("rolling")
    page.wait_for_selector(".stretch .w")
    assert page.locator("#s-along svg .decision").count() == len(report_data["changes"])
    page.get_by_role("button", name=f"{report_data['changes'][0]:,}", exact=True).click()
    lit = page.locator(".stretch.lit")
    texts = unpack(report_data["packed"])
    assert lit.locator(".text").evaluate("it => it.textContent") == texts["documents"][1]["text"]
    assert lit.evaluate("it => document.activeElement === it")
    styles = page.eval_on_selector_all(".stretch", "all => all.map((one) => getComputedStyle(one).borderLeftStyle)")
    assert styles == ["solid", "dashed", "solid"]


def test_a_passage_of_a_stretch_is_brought_into_view_and_counted_from_the_beginning(open_report: Open) -> None:
    page, report_data = open_report("rolling", reduced_motion="reduce"), sample("rolling")
    supporting = [each for each in report_data["strongest"] if each["bits"] > 0]
    place, passage = next((n, each) for n, each in enumerate(supporting) if each["document"])
    button = page.locator("button.passage").nth(place)
    begin = report_data["stretches"][passage["document"]]["begin"] + passage["begin"]
    assert f"character {begin:,}" in button.inner_text()
    button.click()
    lit = page.eval_on_selector_all(".text .lit", "all => all.map((one) => one.textContent).join('')")
    assert button.locator(".excerpt").inner_text().rstrip("\u2026") in lit


def test_the_command_is_copied_or_at_least_selected(open_report: Open) -> None:
    page = open_report("clustering")
    page.get_by_role("button", name="Copy the command").click()
    page.wait_for_selector(".copyable [role=status]:not(:empty)")


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@pytest.mark.parametrize("kind", KINDS)
def test_it_prints_without_its_controls(open_report: Open, kind: str) -> None:
    page = open_report(kind, color_scheme="dark")
    assert pages_of(page.pdf(prefer_css_page_size=True)) >= 1
    page.emulate_media(media="print")
    assert page.locator(".controls:visible, .topbar:visible, .skip:visible").count() == 0
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"


def test_an_element_may_have_more_children_than_a_call_has_arguments(open_report: Open) -> None:
    page = open_report("verification")
    assert page.evaluate("() => el('p', {}, Array(300000).fill('x')).childNodes.length") == 300_000


def test_the_overview_is_printed_with_its_charts(open_report: Open) -> None:
    page = open_report("verification", color_scheme="dark")
    assert pages_of(page.pdf()) >= 2
    assert page.locator("#s-charts svg.chart").count() >= 5  # drawn for paper, though they were not yet seen
    page.emulate_media(media="print")
    assert page.locator("#s-problems").is_visible()
    assert page.locator("#s-provenance").is_visible()


def test_an_opened_problem_is_printed_alone(open_report: Open) -> None:
    page = open_report("verification", "#EN001", color_scheme="dark")
    page.wait_for_selector(".text")
    pages = pages_of(page.pdf())
    assert 2 <= pages <= 5
    page.emulate_media(media="print")
    assert page.locator(".overview").is_hidden()
    assert page.locator(".beside").is_hidden()
    assert page.locator(".masthead .meta").is_visible()  # where it comes from and when it was made
    sizes = page.eval_on_selector_all(".text", "all => all.map((one) => one.scrollHeight - one.clientHeight)")
    assert max(sizes) <= 1
    assert page.locator(".w.l5").first.evaluate("it => getComputedStyle(it).printColorAdjust") == "exact"


def test_colors_follow_the_system_until_they_are_chosen_and_the_choice_is_kept(open_report: Open) -> None:
    page = open_report("clustering", color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(background)
    assert dark != light
    page.get_by_role("button", name="Dark colors").click()
    assert page.evaluate(background) == dark
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate(background) == dark
    page.get_by_role("button", name="Light colors").click()
    assert page.evaluate(background) == light


def test_it_works_where_storage_is_forbidden(open_report: Open) -> None:
    forbid = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    page = open_report("clustering", before=forbid)
    page.get_by_role("button", name="Dark colors").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_browser_that_cant_unpack_says_so(open_report: Open) -> None:
    page = open_report("verification", "#EN001", before="delete window.DecompressionStream")
    page.wait_for_selector("text=This browser can't unpack the texts")
    assert page.locator(".statement").is_visible()


@pytest.mark.parametrize("kind", [*KINDS, "beside", "quoted"])
def test_axe_finds_nothing_serious_in_light_or_dark(open_report: Open, kind: str) -> None:
    page = open_report(kind)
    opened = {"verification": ["", "#EN001"], "attribution": ["", f"#letter to {AUTHORS[0]}"], "beside": ["#EN001"],
              "quoted": ["#EN001"],
              "clustering": ["", f"#{sample('clustering')['pairs'][0]['id']}"]}  # fmt: skip
    fragments = opened.get(kind, [""])
    for fragment in fragments:
        if fragment:
            page.evaluate("fragment => { location.hash = fragment; }", fragment)
            page.wait_for_selector(".text")
        else:
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert seriously_wrong(page) == set(), fragment
    if kind != "quoted":
        return
    page.evaluate("document.querySelector('h1').append(document.createElement('button'))")
    word = page.locator(".text .w").filter(has_text=re.compile(r"\w{4}")).last
    word.evaluate("it => { it.style.color = '#777'; it.style.background = '#888'; }")
    bad = sorted(seriously_wrong(page))
    assert [each.split(":")[0] for each in bad] == ["button-name", "color-contrast"], bad  # axe does look


def test_a_hundred_problems_are_usable_within_two_seconds(open_report: Open) -> None:
    taken = []
    for _ in range(6):  # a machine that is busy with something else may be slow
        page = open_report("large", before=COUNT_UNPACKINGS)
        page.get_by_role("button", name="Answer").click()
        page.wait_for_selector("th[aria-sort=descending]")
        taken.append(page.evaluate("performance.now()") / 1000)  # since the file was asked for
        if taken[-1] < 2:
            break
    assert min(taken) < 2
    assert page.evaluate("window.unpackings") == 0
    begun = time.perf_counter()
    page.locator("a.open").first.click()
    page.wait_for_selector(".text")
    assert time.perf_counter() - begun < 2
    assert page.evaluate("window.unpackings") == 1


def check_harmless(page: Any) -> None:
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.locator("img, iframe, b:has-text('bold'), object, embed").count() == 0
    assert page.evaluate("[...document.querySelectorAll('a')].every((one) => one.getAttribute('href').startsWith('#'))")
    names = page.evaluate("[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())")
    assert not [name for name in names if name.startswith("on")]
    assert report_samples.HOSTILE[0] in page.evaluate("document.body.innerText")


def test_hostile_texts_and_names_stay_text(open_report: Open) -> None:
    page = open_report("hostile")
    check_harmless(page)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    entries = sample("hostile")["problems"]
    assert page.locator("a.open").count() == len(entries)
    for entry in [*entries[:4], *entries[7:10:2]]:  # all the texts, and the ids that are hardest to find again
        page.locator("a.open").nth(first_column(page).index(shown(entry["id"]))).click()
        page.wait_for_selector(".text")
        check_harmless(page)
        check_words(page, entry["packed"])
        page.go_back()
        page.wait_for_selector("#s-problem", state="hidden")


@pytest.mark.parametrize("kind", ["attribution", "rolling", "clustering"])
def test_a_real_page_shows_its_evidence_and_leaves_hostile_text_text(open_report: Open, kind: str) -> None:
    page = open_report(f"hostile {kind}")
    if kind == "attribution":
        page.locator("a.open").first.click()
        page.wait_for_selector(".texts.two .known .text .w.for")
        page.locator(".choices input").nth(1).check()
        page.wait_for_selector("h4:has-text(' rather than ')")
    elif kind == "clustering":
        page.locator("#s-links a.open").first.click()
        page.wait_for_selector(".texts.two .text .w.for")
    else:
        page.wait_for_selector(".stretch .text .w.for")
    page.locator("button.passage").first.click()
    assert page.locator(".text .lit").count() > 3
    page.locator(".text .w.l5").first.hover()
    assert re.search(r"\d bits ", page.get_by_role("tooltip").inner_text())
    check_harmless(page)
    assert not re.search(r"\b(undefined|NaN|Infinity)\b|\[object", page.evaluate("document.body.innerText"))
    assert overflow(page) == 0
    assert seriously_wrong(page) == set()


def check_words(page: Any, packed: str) -> None:
    """Texts are shown sign by sign, and words are where they belong, whatever the signs before them."""
    texts = unpack(packed)
    left_to_right = sorted(texts["documents"], key=lambda document: document["role"] == "unknown")
    for number, document in enumerate(left_to_right):
        text = page.locator(".text").nth(number)
        assert text.evaluate("it => it.textContent") == shown(document["text"])
        words = text.evaluate("it => [...it.querySelectorAll('.w')].map((one) => one.textContent)")
        assert words == [shown(document["text"][begin:end]) for begin, end, *_ in document["words"]]


def shown(text: str) -> str:
    """As the page shows it: controls as pictures or codes."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    text = re.sub("[\x00-\x08\x0b-\x1f]", lambda found: chr(0x2400 + ord(found[0])), text)
    return re.sub("[\u202a-\u202e\u2066-\u2069]", lambda found: f"[U+{ord(found[0]):04X}]", text)
