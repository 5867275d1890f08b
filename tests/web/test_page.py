"""The page of `byline serve` in a real browser, before the real server: files, runs, reports, keyboard, trouble."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from browsers import WatchedPages, seriously_wrong
from samples import habits
from web_pages import Served, serving_by_command

pytest.importorskip("starlette", reason="byline[web] is not installed")

HOSTILE = "<img src=x onerror=alert(1)> &amp; \u05d0\u05d1"
"""A name that would be markup, and ends in another direction."""
ATTACK = "</textarea><script>alert('text')</script><b>bold</b> & \u202eback "

Open = Callable[..., Any]
Jobs = list[dict[str, Any]]


# As text


def test_the_assets_name_no_address_and_make_no_markup_of_text() -> None:
    folder = files("byline.web") / "assets"
    whole = 0
    for entry in folder.iterdir():
        content = entry.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        whole += len(content)
        assert "http" not in content, entry.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", content), entry.name
        assert not re.search(r"style=|\bon[a-z]+=\"", content), entry.name  # the page's policy would refuse them
    assert whole < 150_000


# In a browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Served]:
    """A server of its own."""
    with serving_by_command(tmp_path_factory.mktemp("home"), "--no-browser") as served:
        yield served


@pytest.fixture(scope="module")
def address(served: Served) -> str:
    return served.url


@pytest.fixture(scope="module")
def runs(served: Served) -> dict[str, str]:
    """Runs that are begun at once, to be looked at later: one with hostile names, one that must fail."""
    draft = served.draft()
    for n in range(4):
        served.put(draft, "texts", f"{n} {HOSTILE}.txt", ATTACK + habits(n % 2, 700, n))
    asked = {"task": "clustering", "draft": draft, "options": {"title": f"Clusters {HOSTILE}", "keep_files": True}}
    hostile = served.post("api/jobs", asked)["id"]
    files = {"known/a.txt": habits(1, 700), "unknown/b.txt": habits(1, 700, 1), "reference/c.txt": habits(2, 700)}
    options = {"title": "too few", "uploaded": True}
    failing = served.post("api/jobs", {"task": "question", "draft": served.fill(files), "options": options})["id"]
    return {"hostile": hostile, "failing": failing}


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Open]:
    """Opens the page in a new context, with `jobs` to pretend and a script to run `before` its own.

    Errors, native dialogs and requests to anywhere else fail the test.
    """
    watched = WatchedPages(address)
    contexts: list[Any] = []

    def open_page(fragment: str = "", before: str = "", jobs: Jobs | None = None, color_scheme: str = "light") -> Any:
        page = watched.new_page(browser, before)
        contexts.append(page.context)
        page.emulate_media(color_scheme=color_scheme)
        if jobs is not None:
            pretend(page, jobs)
        page.goto(address + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert watched.errors == watched.strange == []


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder as people have them: authors' folders, and what systems leave about."""
    for n, author in enumerate(("Austen", "Brontë")):
        (tmp_path / "novels" / author).mkdir(parents=True)
        for title in ("one", "two"):
            (tmp_path / "novels" / author / f"{title}.txt").write_text(habits(n, 800, title), encoding="utf-8")
    (tmp_path / "novels" / ".DS_Store").write_bytes(b"\0\1")
    (tmp_path / "novels" / "Austen" / "Thumbs.db").write_bytes(b"\0\1")
    (tmp_path / "novels" / "letter.txt").write_text(habits(0, 800, "letter"), encoding="utf-8")
    return tmp_path


def zone(page: Any, role: str) -> Any:
    return page.locator(f".zone[data-role={role}]")


def give(page: Any, role: str, *given: Path | dict[str, Any], rows: int | None = None) -> None:
    """Choose files, of the disk or made up, and wait until all are read; `rows` that they make, if not one each."""
    there = zone(page, role).locator(".file")
    wanted = there.count() + (len(given) if rows is None else rows)
    zone(page, role).locator(".pick-files").first.set_input_files(list(given))
    there.nth(wanted - 1).wait_for()
    settle(page)


def settle(page: Any) -> None:
    """Until all files are read."""
    page.wait_for_selector(".file.waiting, .file.sending", state="detached")
    page.wait_for_selector(".missing:not(:has-text('being read'))")


def made_up(name: str, content: bytes | str, kind: str = "text/plain") -> dict[str, Any]:
    return {"name": name, "mimeType": kind, "buffer": content.encode() if isinstance(content, str) else content}


def drop(page: Any, selector: str, *paths: Path) -> None:
    """Drop files and folders on an element, as a file manager would."""
    page.locator(selector).scroll_into_view_if_needed()
    box = page.locator(selector).bounding_box()
    where = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **where, "data": data})


def focused(page: Any, code: str) -> Any:
    return page.evaluate(f"(() => {{ const it = document.activeElement; return {code}; }})()")


def overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def go(page: Any, fragment: str, selector: str) -> None:
    page.evaluate("fragment => { location.hash = fragment; }", fragment)
    page.wait_for_selector(selector)


def wait_done(page: Any, job: str) -> None:
    go(page, f"#job={job}", ".job h1")
    page.wait_for_selector(".conclusion, .note.warning", timeout=120_000)


def test_the_first_view_leads_to_a_task_and_back(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("link", name="Which texts belong together?").click()
    page.wait_for_selector(".zone")
    assert focused(page, "it.tagName") == "H1"
    page.go_back()
    page.get_by_role("heading", name="What do you want to know?").wait_for()
    assert page.get_by_role("button", name="Try it").count() == 4


def test_files_are_read_at_once_and_those_that_cant_be_say_why(open_page: Open) -> None:
    page = open_page("#new=question")
    give(page, "known", made_up("essay.txt", habits(1, 700)), made_up("note.txt", "Too short to say much."))
    told = zone(page, "known").inner_text()
    assert re.search(r"essay\.txt 6\d\d characters", told)
    assert "very short" in told
    useless = made_up("nothing.txt", ""), made_up("photo.jpg", b"\xff\xd8\xff", "image/jpeg")
    give(page, "unknown", *useless, made_up("noise.txt", bytes(range(256)) * 3), made_up("b.txt", habits(1, 700, 1)))
    refused = zone(page, "unknown").locator(".file.refused")
    assert refused.count() == 3
    assert "nothing to read" in refused.nth(0).inner_text()
    assert "a picture" in refused.nth(1).inner_text()
    assert len(refused.nth(2).locator(".why").inner_text()) > 10
    assert "noise.txt: " not in refused.nth(2).locator(".why").inner_text()  # its name stands above it
    refused.nth(0).get_by_role("button").click()
    assert refused.count() == 2
    assert focused(page, "it.textContent").startswith("Dismiss")
    page.wait_for_selector("#s-status:has-text('nothing.txt removed')", state="attached")
    give(page, "known", made_up("essay.txt", habits(1, 700, 2)))
    assert "essay (2).txt" in zone(page, "known").inner_text()
    zone(page, "known").get_by_role("button", name="Remove all").click()
    assert zone(page, "known").locator(".file").count() == 0
    assert "Choose files" in focused(page, "it.textContent")


def test_texts_in_two_languages_are_doubted_before_they_are_asked_about(open_page: Open) -> None:
    page = open_page("#new=question")
    dutch = "De man die in het huis van zijn vader was, had niet gezien dat er een brief op de tafel lag. " * 9
    english = "The man who was in the house of his father had not seen that there was a letter on the table. " * 9
    give(page, "known", made_up("brief.txt", dutch))
    give(page, "unknown", made_up("letter.txt", english))
    page.wait_for_selector("text=differ in language or script (dutch, english)")
    zone(page, "unknown").get_by_role("button", name="Remove letter.txt").click()
    give(page, "unknown", made_up("post.txt", dutch[5:]))
    page.wait_for_selector("text=differ in language", state="detached")


def test_what_is_too_large_is_not_even_sent(open_page: Open) -> None:
    page = open_page()

    def shrink(route: Any) -> None:
        answer = route.fetch()
        state = answer.json()
        state["limits"] |= {"file_bytes": 3_000_000, "files": 3}
        state["missing"] = [".pdf"]
        route.fulfill(response=answer, json=state)

    sent = []
    page.route("**/api/state", shrink)
    page.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    page.reload()  # what the page knew before is forgotten
    go(page, "#new=clustering", ".zone")
    give(page, "texts", made_up("large.txt", "x" * 3_100_000), made_up("paper.pdf", b"%PDF-1.4"))
    assert "3 MB are the most" in zone(page, "texts").inner_text()
    assert "byline[documents]" in zone(page, "texts").inner_text()
    assert sent == []
    give(page, "texts", *(made_up(f"{n}.txt", habits(n, 300)) for n in range(5)), rows=4)
    assert "2 of these files" in zone(page, "texts").inner_text()
    assert len(sent) == 3


def test_a_dropped_folder_keeps_its_authors_and_leaves_out_junk(open_page: Open, texts: Path) -> None:
    page = open_page("#new=attribution")
    drop(page, ".zone[data-role=candidates] .drop", texts / "novels")
    page.wait_for_selector(".author >> nth=1")
    settle(page)
    assert page.locator(".author h3").all_inner_texts() == ["Austen", "Brontë"]
    assert page.locator(".author summary").first.inner_text().startswith("2 texts, 1,5")
    said = zone(page, "candidates").inner_text()
    assert "2 hidden files left out" in said
    assert "whose is it?" in zone(page, "candidates").locator(".file.refused").inner_text()
    page.get_by_label("An author’s name").fill("Eliot")
    page.keyboard.press("Enter")
    page.locator(".author", has_text="Eliot").locator(".pick-files").set_input_files(
        [made_up("adam.txt", habits(7, 800))]
    )
    page.locator(".author", has_text="Eliot").locator("summary", has_text="1 text,").wait_for()
    drop(page, ".zone[data-role=unknown] .drop", texts / "novels" / "letter.txt")
    page.wait_for_selector(".missing:has-text('Ready.')")
    page.locator(".author", has_text="Austen").get_by_role("button", name="Remove Austen").click()
    assert page.locator(".author h3").all_inner_texts() == ["Brontë", "Eliot"]
    drop(page, "h1", texts / "novels" / "letter.txt")  # a file that misses its place does not open
    assert page.locator("h1").inner_text() == "Which of these authors?"


def test_a_folder_can_be_chosen_and_a_zip_is_unpacked(open_page: Open, texts: Path) -> None:
    page = open_page("#new=clustering")
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    zone(page, "texts").locator(".pick-folder").set_input_files(texts / "novels")
    page.wait_for_selector(".file.ready >> nth=4")
    assert all("folder=novels" in url for url in sent)
    assert "Austen/one.txt" in zone(page, "texts").locator(".file .name").first.inner_text()
    with zipfile.ZipFile(texts / "more.zip", "w") as archive:
        archive.writestr("a.txt", habits(4, 500))
        archive.writestr(".hidden", "x")
    give(page, "texts", texts / "more.zip", rows=2)
    page.wait_for_selector(".file.ready >> nth=5")
    assert "1 file in it left out" in zone(page, "texts").locator(".file.refused").inner_text()


def test_the_start_button_says_what_is_missing_and_leads_there(open_page: Open) -> None:
    page = open_page("#new=question")
    assert page.inner_text(".missing").startswith("Still missing: a text that the person certainly wrote, a text in")
    page.get_by_role("button", name="Start").click()
    assert "Still missing" in page.inner_text(".go [role=alert]")
    assert focused(page, "it.closest('.zone').dataset.role") == "known"
    give(page, "known", made_up("a.txt", habits(1, 700)))
    give(page, "unknown", made_up("b.txt", habits(1, 700, 1)))
    assert page.inner_text(".missing") == "Still missing: texts by other people to compare with."
    page.get_by_label("Texts that I give now").check()
    page.get_by_role("button", name="Start").click()
    assert focused(page, "it.closest('.zone').dataset.role") == "reference"
    page.get_by_label("built-in english").check()
    page.wait_for_selector(".missing:text-is('Ready.')")


def test_a_text_can_be_pasted(open_page: Open) -> None:
    page = open_page("#new=clustering")
    page.get_by_text("Or paste a text").click()
    page.get_by_label("Text", exact=True).fill(ATTACK + habits(1, 600))
    page.get_by_label("Its name, if it has one").fill("../my letter")
    page.get_by_role("button", name="Add this text").click()
    page.wait_for_selector(".file.ready")
    assert page.locator(".file .name").first.inner_text() == "-my letter.txt"
    assert page.locator(".excerpt").inner_text().startswith("</textarea><script>alert('text')</script>")
    assert page.get_by_label("Text", exact=True).input_value() == ""


def test_a_reload_keeps_the_files_and_what_was_filled_in(open_page: Open, served: Served) -> None:
    page = open_page("#new=question")
    give(page, "known", made_up("essay.txt", habits(1, 700)))
    page.get_by_label("A title, to find it again").fill("My title")
    page.get_by_label("built-in greek").check()
    page.get_by_label("Keep the files too").check()
    page.reload()
    page.wait_for_selector(".file.ready")
    assert "essay.txt" in zone(page, "known").inner_text()
    assert page.get_by_label("A title, to find it again").input_value() == "My title"
    assert page.get_by_label("built-in greek").is_checked()
    assert page.get_by_label("Keep the files too").is_checked()
    remove_draft(served, page, "question")
    page.reload()
    page.wait_for_selector("text=they are kept for an hour")


def draft_of(page: Any, task: str) -> str:
    return str(page.evaluate("key => JSON.parse(sessionStorage.getItem(key))", f"byline-draft-{task}"))


def remove_draft(served: Served, page: Any, task: str) -> str:
    """Remove the draft of a task at the server, as happens after an hour."""
    draft = draft_of(page, task)
    assert served.client.delete(f"api/drafts/{draft}").status_code == 204
    return draft


def names_in(served: Served, page: Any) -> set[str]:
    return {file["name"] for file in served.get(f"api/drafts/{draft_of(page, 'clustering')}")["files"]}


def test_files_on_their_way_when_the_server_gave_up_all_land_in_one_place(open_page: Open, served: Served) -> None:
    page = open_page("#new=clustering")
    give(page, "texts", made_up("a.txt", habits(1, 600)))
    first = remove_draft(served, page, "clustering")
    begun, late = [], []
    page.on("request", lambda request: begun.append(request) if request.url.endswith("api/drafts") else None)
    page.route(f"**/api/drafts/{first}/files?*name=c.txt*", lambda route: late.append(route))
    zone(page, "texts").locator(".pick-files").set_input_files(
        [made_up(f"{name}.txt", habits(name, 600)) for name in "bc"]
    )
    page.wait_for_selector(".file.ready:has-text('b.txt')")  # which found it gone, and has a new place by now
    late[0].continue_()
    page.wait_for_selector(".file.ready >> nth=2")
    settle(page)
    assert names_in(served, page) == {"a.txt", "b.txt", "c.txt"}
    assert len(begun) == 1


def test_what_warns_of_a_real_attribution_is_said_once_and_the_prior_with_it(open_page: Open) -> None:
    page = open_page("#new=attribution")
    quoted = habits("Ann", 500, 1)[100:350]
    authors = {f"{author}_{n}.txt": habits(author, 500, n) for author in ("Ann", "Bob", "Eve") for n in range(2)}
    zone(page, "candidates").locator(".pick-files").first.set_input_files(
        [made_up(name, text) for name, text in authors.items()]
    )
    give(page, "unknown", made_up("found.txt", habits("Bob", 500, 5) + quoted))
    page.wait_for_selector(".missing:has-text('Ready.')")
    assert page.get_by_label("That none of these authors wrote it").input_value() == "0.1"
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector(".conclusion", timeout=120_000)
    text = page.evaluate("document.querySelector('main').textContent")  # with what is folded
    assert text.count("characters or more word for word with") == 1
    assert page.inner_text("h1") == "found.txt and 3 authors"
    seen = page.inner_text("main")
    assert seen.index("Shares 100 characters") < seen.index("Beforehand, “none of these” was given 10%.")
    assert "none of them" not in text.lower()
    assert page.locator(".ranking li").count() == 4
    with page.expect_download() as taken:
        page.get_by_role("link", name="report.html").click()
    assert "<!doctype html>" in taken.value.path().read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(("count", "prior"), [(1, 0), (2, 0.25), (6, 0.995), (6, 0)])
def test_authors_of_some_texts_are_shown_with_none_of_these_only_where_that_can_be(
    open_page: Open, count: int, prior: float
) -> None:
    odd = "shares 100 characters with another; that is no evidence"
    documents = [
        {"name": f"{n}.txt", "author": "Ann", "probability": 0.7, "none": prior and 0.2, "statement": "Words.",
         "warnings": [f"{odd.capitalize()}.", "Short."], "ranking": [["Ann", 0.7], ["Bob", 0.1]]}
        for n in range(count)
    ]  # fmt: skip
    told = [f"{each['name']}: {odd}." for each in documents]
    result = outcome("attribution", warnings=told, documents=documents, total=count)
    notes = [f"{each['name']}: {odd}" for each in documents]
    done = job("done", task="attribution", result=result, options={"none": prior}, notes=[*notes, "else"])
    page = open_page("#job=ab12", jobs=[done])
    page.wait_for_selector("details:has-text('1 note from on the way')", state="attached")
    text = page.evaluate("document.querySelector('main').textContent").partition("What it means")[0]
    assert len(re.findall("hares 100 characters", page.evaluate("document.body.textContent"))) == count
    assert text.count("Short.") == count
    assert text.lower().count("none of these") == (0 if not prior else 2 if count > 5 else 1 + count)
    assert (f"was given {prior * 100:g}%" in text) == (prior > 0)
    assert ("is taken to have written each text" in text) == (prior == 0)
    assert page.locator("details:has-text('1 note from on the way')").count() == 1


def test_a_question_is_asked_watched_answered_and_taken_away(open_page: Open, runs: dict[str, str]) -> None:
    page = open_page("#new=question")
    give(page, "known", made_up("known.txt", habits("her", 600, 1)), made_up("more.txt", habits("her", 600, 2)))
    give(page, "unknown", made_up("found.txt", habits("her", 600, 3)))
    give(page, "reference", *(made_up(f"person {n}.txt", habits(n, 500)) for n in range(12)))
    assert "By 12 people" in page.inner_text("[data-part=reference]")
    page.get_by_label("Keep these texts as a reference population").check()
    page.get_by_label("Under the name").fill("twelve")
    page.get_by_label("A title, to find it again").fill("A found text")
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector(".progress")
    assert re.search("Waiting|[A-Z]", page.inner_text(".stage"))
    job = page.url.split("#job=")[1]
    second = page.context.new_page()
    second.goto(page.url)
    page.reload()  # in the middle
    for each in (page, second):
        each.wait_for_selector(".conclusion", timeout=120_000)
        assert each.inner_text("h1") == "A found text"
        each.get_by_role("heading", name="Downloads").wait_for()
    assert page.inner_text(".conclusion") == second.inner_text(".conclusion")
    assert re.search("More likely|Undecided", page.inner_text(".conclusion"))
    assert page.locator(".statement").inner_text()
    text = page.inner_text("main")
    assert not re.search(r"\b(undefined|NaN|null|Infinity)\b|\[object", text)
    assert "no proof" in text
    assert seriously_wrong(page) == set()
    second.set_viewport_size({"width": 320, "height": 800})
    assert overflow(second) == 0

    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the report").click()
    report = opened.value
    report.wait_for_selector("html[data-ready]")
    report.wait_for_selector(".text")  # without colors: no member of the preset adds up over characters
    assert report.evaluate("origin") == "null"  # a report is in a room of its own

    with page.expect_download() as taken:
        page.get_by_role("link", name="answers.txt").click()
    assert re.fullmatch(r"\S+ [01]\.\d+\n", taken.value.path().read_text(encoding="utf-8"))

    go(page, "#runs", ".run")
    assert page.locator(f'a[href="#job={job}"]').count() == 1
    kept = page.get_by_role("region", name="Kept reference populations")
    assert "12 texts by 12 people" in kept.inner_text()
    kept.get_by_role("button", name="Delete twelve").click()
    page.get_by_role("button", name="Delete it").click()
    kept.wait_for(state="hidden")
    assert focused(page, "it.tagName") == "H1"


def test_all_of_it_goes_by_keyboard_alone(open_page: Open, texts: Path, runs: dict[str, str]) -> None:
    page = open_page()
    page.on("filechooser", lambda _: None)  # from now on choosers are caught, not opened
    press = page.keyboard.press

    def tab_to(selector: str, most: int = 60) -> None:
        for _ in range(most):
            press("Tab")
            if focused(page, f"it.matches({selector!r})"):
                return
        raise AssertionError(f"{selector} is not reached by {most} tabs")

    press("Tab")
    assert focused(page, "it.className") == "skip"
    press("Enter")
    page.wait_for_selector("#s-main:focus")
    tab_to("a[href='#new=clustering']")
    press("Enter")
    page.wait_for_selector(".zone")
    assert focused(page, "it.tagName") == "H1"
    tab_to("button.choose")
    with page.expect_event("filechooser") as chooser:
        press("Enter")
    assert chooser.value.is_multiple()
    chooser.value.set_files(sorted((texts / "novels").rglob("*.txt")))
    settle(page)
    page.wait_for_selector(".missing:has-text('Ready.')")
    tab_to("input[name=title]")
    page.keyboard.type("By keyboard")
    tab_to("input[name=keep]")
    press("Space")
    assert not page.get_by_label("Keep the result").is_checked()
    tab_to("button.primary")
    press("Enter")
    page.wait_for_selector(".progress")
    assert focused(page, "it.tagName") == "H1"
    tab_to(".progress button")
    press("Enter")
    page.get_by_role("heading", name="It was stopped").wait_for()
    assert focused(page, "it.tagName") == "H1"
    tab_to(".last button")
    assert "Change and ask again" in focused(page, "it.textContent")
    press("Enter")
    page.wait_for_selector(".file.ready >> nth=4")
    assert page.get_by_label("A title, to find it again").input_value() == "By keyboard"
    page.go_back()
    page.wait_for_selector(".job h1:focus")
    tab_to("button.danger")
    press("Enter")
    page.wait_for_selector("dialog[open]")
    assert focused(page, "it.textContent") == "Keep it"
    press("Escape")
    assert "Delete this run" in focused(page, "it.textContent")
    press("Enter")
    press("Shift+Tab")
    assert focused(page, "it.textContent") == "Delete it"
    press("Enter")
    page.get_by_role("heading", name="Earlier runs").wait_for()
    assert page.locator(".runs", has_text="By keyboard").count() == 0


def test_hostile_names_and_texts_stay_text(open_page: Open, runs: dict[str, str]) -> None:
    page = open_page()

    def check() -> None:
        assert page.locator("main img, main script, main b, main iframe, dialog img").count() == 0
        names = page.evaluate("[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())")
        assert not [name for name in names if name.startswith("on") or name == "style"]
        assert "\u202e" not in page.evaluate("document.body.innerText")

    wait_done(page, runs["hostile"])
    page.wait_for_selector(".clusters")
    assert page.inner_text("h1") == f"Clusters {HOSTILE}"
    assert page.locator(".clusters li bdi").count() == 4
    check()
    page.get_by_role("button", name="Delete this run").click()
    assert "<img src=x" in page.inner_text("dialog h2")
    check()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run it again").wait_for()
    go(page, "#runs", ".run")
    assert HOSTILE in page.inner_text(".runs")
    check()
    go(page, "#new=question", ".zone")
    given = made_up(f"{HOSTILE}\u202e\x01.txt", ATTACK + habits(1, 600)), made_up("\u202e<b>.jpg", b"x", "image/jpeg")
    give(page, "known", *given)
    assert f"{HOSTILE}.txt" in zone(page, "known").locator(".file.ready").inner_text()
    assert "[U+202E]<b>.jpg" in zone(page, "known").locator(".file.refused").inner_text()
    check()
    hostile = {"conclusion": ATTACK, "warnings": [ATTACK], "limits": [ATTACK]}
    result = outcome("clustering", clusters=[[HOSTILE, "\u202e" + ATTACK]], **hostile)
    pretend(page, [job("done", result=result)])
    go(page, "#job=ab12", ".clusters")
    assert HOSTILE in page.inner_text(".clusters")
    check()
    go(page, "#", ".tasks")
    pretend(page, [job("failed", title=f"\u202e{ATTACK}", error=ATTACK, notes=[ATTACK])])
    go(page, "#job=ab12", "h1:has-text('[U+202E]</textarea>')")
    page.get_by_role("heading", name="It could not be done").wait_for()
    check()
    go(page, "#job=%3Cimg%20src=x%3E%ff", "text=not there any more")
    go(page, "#new=__proto__", ".tasks")


def test_a_run_that_fails_says_why_and_what_to_do(open_page: Open, runs: dict[str, str]) -> None:
    page = open_page()
    wait_done(page, runs["failing"])
    assert page.get_by_role("heading", name="It could not be done").count() == 1
    assert "people" in page.inner_text(".note.warning")
    assert page.get_by_role("button", name="Run it again").count() == 0  # its files were not kept
    assert page.get_by_role("link", name="Ask about other texts").count() == 1


def job(state: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "ab12", "task": "corpus", "title": "A corpus", "state": state, "place": None, "kept": True,
        "made": "2026-11-16T12:00:00Z", "began": None, "ended": None, "error": None, "notes": [], "options": {},
        "files_kept": False, "example": None, "progress": {"share": None, "stage": "", "left": None}, **more,
    }  # fmt: skip


def outcome(kind: str, **more: Any) -> dict[str, Any]:
    """The short result of a job."""
    usual = {"conclusion": "Some.", "warnings": [], "limits": [], "total": 1, "report": "report.html", "downloads": []}
    return {"kind": kind, **usual, **more}


def pretend(page: Any, jobs: Jobs) -> None:
    """Let the server have these runs, whatever it has; a page that is open already asks again."""

    def state(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "jobs": jobs})

    page.route("**/api/state", state)
    page.route("**/api/jobs", lambda route: route.fulfill(json={"jobs": jobs}))
    page.route("**/api/jobs/ab12", lambda route: route.fulfill(json=jobs[0]))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_progress_is_shown_and_not_told_too_often(open_page: Open) -> None:
    jobs = [job("queued", place=3)]
    page = open_page("#job=ab12", jobs=jobs)
    page.wait_for_selector(".progress")
    assert page.inner_text(".stage") == "Waiting: 2 before it"
    page.evaluate(
        "() => { window.said = []; const region = document.getElementById('s-status');"
        "new MutationObserver(() => said.push(region.textContent)).observe(region, { childList: true }); }"
    )
    for share in (0.1, 0.2, 0.26, 0.3):
        jobs[0] = job("running", progress={"share": share, "stage": "member 3 of 8", "left": 34.2})
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_selector(f"text={round(share * 100)}%, about 34 s left")
    assert page.locator("progress").evaluate("it => it.value") == 0.3
    assert page.title().startswith("30% A corpus")
    page.wait_for_timeout(100)
    assert [words for words in page.evaluate("said") if words] == ["25% done."]
    assert "(1 at work)" in page.inner_text("header")
    jobs[0] = job("interrupted", error="byline serve was stopped before it was done")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("heading", name="It was interrupted").wait_for()
    page.wait_for_selector("#s-status:has-text('It was interrupted')", state="attached")
    assert page.title() == "A corpus, Byline"


def test_warnings_stand_before_the_numbers_and_many_answers_make_a_table(open_page: Open) -> None:
    problems = [
        {"id": f"EN{n:03d}", "verdict": ("same", "another", "undecided")[n % 3], "statement": "Words.",
         "answer": 0.25 * (n % 3), "llr": None, "low": None, "high": None,
         "probability": None, "warnings": ["odd"] if n == 1 else [], "known": ["k"], "unknown": "u"}
        for n in range(8)
    ]  # fmt: skip
    told = ["Beware of this.", "EN001: odd"]
    result = outcome("verification", warnings=told, calibrated=False, problems=problems, total=300)
    page = open_page("#job=ab12", jobs=[job("done", result=result)])
    page.wait_for_selector("table")
    text = page.inner_text("main")
    assert text.index("Beware of this.") < text.index("0.250")
    assert "EN001: odd" in text
    assert "The first 8 of 300 problems" in text
    assert page.locator("tbody tr").count() == 8
    assert page.locator("tbody a").first.get_attribute("href") == "report.html#EN000"
    assert not re.search(r"\b(undefined|NaN|null|Infinity)\b|\[object", text)
    assert seriously_wrong(page) == set()
    page.set_viewport_size({"width": 320, "height": 800})
    assert overflow(page) == 0


@pytest.mark.parametrize("count", [1, 2])
def test_a_warning_of_one_answer_is_told_once_and_before_its_numbers(open_page: Open, count: int) -> None:
    problem = {"verdict": "same", "statement": "Words.", "answer": 0.75, "llr": 1.5, "low": 1.25, "high": 1.75,
               "probability": 0.97, "warnings": ["odd"], "known": ["k"], "unknown": "u"}  # fmt: skip
    problems = [{"id": f"EN{n:03d}", **problem} for n in range(count)]
    told = ["Beware of this.", *(f"{each['id']}: odd" for each in problems)]
    result = outcome("verification", warnings=told, calibrated=True, problems=problems, total=count)
    page = open_page("#job=ab12", jobs=[job("done", result=result)])
    page.wait_for_selector(".findings")
    page.wait_for_function("document.querySelector('main').innerText.includes('+1.50 (+1.25 to')")
    text = page.inner_text("main")
    assert len(re.findall(r"\bodd\b", text)) == count
    assert text.index("Beware of this.") < text.index("odd") < text.index("+1.50 (+1.25 to +1.75)")


def test_a_server_that_is_gone_is_told_and_found_again(open_page: Open) -> None:
    page = open_page("#new=clustering")
    give(page, "texts", made_up("a.txt", habits(1, 600)))
    page.context.set_offline(True)
    zone(page, "texts").locator(".pick-files").set_input_files([made_up("b.txt", habits(2, 600))])
    page.get_by_role("alert").filter(has_text="Byline does not answer").wait_for()
    assert "start byline serve again" in page.inner_text("#s-banner")
    page.context.set_offline(False)
    page.wait_for_selector(".banner", state="detached")
    page.wait_for_selector(".file.ready >> nth=1")  # what was waiting is sent now
    page.route("**/api/**", lambda route: route.fulfill(status=403, json={"error": "an old token"}))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("alert").filter(has_text="Open the new address").wait_for()
    page.unroute("**/api/**")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector(".banner", state="detached")
    assert page.locator(".file.ready").count() == 2


def test_colors_follow_the_system_until_they_are_chosen_and_paper_is_white(open_page: Open) -> None:
    page = open_page("#new=question", color_scheme="dark")
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
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    assert page.locator("button:visible, nav:visible").count() == 0


def test_it_works_where_storage_is_forbidden(open_page: Open) -> None:
    forbid = "".join(
        f"Object.defineProperty(window, '{name}', {{ get() {{ throw new DOMException('no', 'SecurityError'); }} }});"
        for name in ("localStorage", "sessionStorage")
    )
    page = open_page("#new=clustering", before=forbid)
    page.get_by_role("button", name="Dark colors").click()
    give(page, "texts", made_up("a.txt", habits(1, 600)))
    assert page.locator(".file.ready").count() == 1


def every_view(page: Any, runs: dict[str, str]) -> Iterator[str]:
    """All views, with files in them and everything unfolded."""
    roles = {"question": "known", "corpus": "corpus", "attribution": "unknown", "clustering": "texts"}
    for task, role in roles.items():
        go(page, f"#new={task}", f".zone[data-role={role}]")
        long = "a-very-long-name-without-any-place-to-break-it" * 3
        give(page, role, made_up(f"{long}.txt", habits(1, 300)), made_up(f"{long}.jpg", b"x", "image/jpeg"))
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        yield task
    for run in runs:
        wait_done(page, runs[run])
        page.wait_for_selector("[aria-busy]", state="detached")
        yield run
    go(page, "#runs", ".run")
    yield "runs"
    go(page, "#", ".example button")
    yield "start"


def test_every_view_fits_a_narrow_screen_and_axe_finds_nothing_serious(open_page: Open, runs: dict[str, str]) -> None:
    page = open_page()
    for view in every_view(page, runs):
        assert seriously_wrong(page) == set(), view
        page.set_viewport_size({"width": 320, "height": 800})
        assert overflow(page) == 0, view
        page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("document.querySelector('h1').append(document.createElement('button'))")
    assert len(seriously_wrong(page)) == 1  # axe does look


def test_all_runs_are_deleted_after_one_question(open_page: Open, runs: dict[str, str]) -> None:
    page = open_page("#runs")
    page.get_by_role("button", name="Delete all").click()
    assert "can’t be undone" in page.inner_text("dialog")
    page.get_by_role("button", name="Keep them").click()
    assert page.locator(".run").count() >= len(runs)
    page.get_by_role("button", name="Delete all").click()
    page.locator("dialog").get_by_role("button", name="Delete all").click()
    page.get_by_role("link", name="Ask something").wait_for()
    assert page.evaluate("fetch('api/jobs').then((answer) => answer.json()).then((all) => all.jobs.length)") == 0
    go(page, f"#job={runs['hostile']}", "text=not there any more")
