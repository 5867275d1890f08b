"""Files and folders are replaced as a whole. Links stay links, modes stay, and what is no file is left alone."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from byline.errors import RunError
from byline.storage import files as storage
from byline.storage.files import resolve_file, write_files, write_folder
from refusals import refusal

NOBODY = 2**22 + 1
"""No process has that number."""


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestLinks:
    def test_what_a_link_leads_to_is_replaced_and_the_link_stays(self, tmp_path: Path) -> None:
        real, link = tmp_path / "real" / "m.byline", tmp_path / "link.byline"
        real.parent.mkdir()
        real.write_bytes(b"old")
        link.symlink_to(real)
        write_files(tmp_path, {"link.byline": b"new"})
        assert link.is_symlink()
        assert real.read_bytes() == b"new"
        assert (names_in(tmp_path), names_in(real.parent)) == (["link.byline", "real"], ["m.byline"])

    def test_a_link_to_what_is_not_there_yet_makes_it(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("later")
        write_files(tmp_path, {"link": b"new"})
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "later").read_bytes() == b"new"

    def test_links_that_lead_to_each_other_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "one").symlink_to("other")
        (tmp_path / "other").symlink_to("one")
        assert refusal(RunError, write_files, tmp_path, {"one": b"new"}).where == str(tmp_path / "one")


class TestModes:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
    def test_a_file_that_is_there_keeps_its_mode(self, tmp_path: Path, mode: int) -> None:
        path = tmp_path / "m.byline"
        path.write_bytes(b"old")
        path.chmod(mode)
        write_files(tmp_path, {path.name: b"new"})
        assert path.read_bytes() == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == mode

    def test_a_new_version_can_be_read_by_nobody_else_while_it_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, real, modes = tmp_path / "m.byline", storage._write, []
        path.write_bytes(b"old")
        path.chmod(0o600)

        def write(part: Path, content: bytes) -> None:
            real(part, content)
            modes.append(stat.S_IMODE(part.stat().st_mode))

        monkeypatch.setattr(storage, "_write", write)
        write_files(tmp_path, {path.name: b"new"})
        assert modes == [0o600]

    def test_a_new_file_has_the_usual_one(self, tmp_path: Path) -> None:
        (tmp_path / "usual").write_bytes(b"x")
        write_files(tmp_path, {"new": b"x"})
        assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


class TestOddPlaces:
    def test_a_pipe_is_refused_and_stays_one(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert refusal(RunError, write_files, tmp_path, {"pipe": b"new"}).where == str(tmp_path / "pipe")
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
        assert names_in(tmp_path) == ["pipe"]

    def test_so_is_a_device_behind_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(os.devnull)
        assert refusal(RunError, write_files, tmp_path, {"link": b"new"}).where == str(tmp_path / "link")
        assert refusal(RunError, resolve_file, Path(os.devnull)).where == os.devnull

    def test_a_folder_is_refused_by_its_name_and_no_other_file_appears(self, tmp_path: Path) -> None:
        (tmp_path / "second").mkdir()
        error = refusal(RunError, write_files, tmp_path, {"first": b"new", "second": b"new"})
        assert error.where == str(tmp_path / "second")
        assert names_in(tmp_path) == ["second"]

    def test_a_name_may_be_as_long_as_the_system_takes(self, tmp_path: Path) -> None:
        longest = "ü" * 127 + "x"  # 255 bytes
        write_files(tmp_path, {longest: b"new"})
        write_files(tmp_path, {longest: b"newer"})
        assert (tmp_path / longest).read_bytes() == b"newer"
        assert len(names_in(tmp_path)) == 1

    def test_one_that_is_longer_is_named(self, tmp_path: Path) -> None:
        error = refusal(RunError, write_files, tmp_path, {"x" * 256: b"new"})
        assert (error.where, error.remedy) == (str(tmp_path / ("x" * 256)), "Choose a shorter name")
        assert names_in(tmp_path) == []


class TestFolders:
    def test_one_that_cannot_be_removed_is_replaced_all_the_same_and_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, remove = tmp_path / "ref", shutil.rmtree
        write_folder(folder, {"about": b"0", "texts/a": b"0"})

        def remove_in_part(path: Path, ignore_errors: bool = False) -> None:
            assert ignore_errors
            (path / "about").unlink(missing_ok=True)  # and what is in texts can't be

        monkeypatch.setattr(shutil, "rmtree", remove_in_part)
        for content in (b"1", b"2", b"3"):
            write_folder(folder, {"about": content, "texts/b": content})
            assert files_in(folder) == {"about": content, "texts/b": content}
        assert len(names_in(tmp_path)) == 4
        monkeypatch.setattr(shutil, "rmtree", remove)
        write_folder(folder, {"about": b"4"})
        assert (names_in(tmp_path), files_in(folder)) == (["ref"], {"about": b"4"})

    def test_what_was_removed_in_part_is_never_put_back(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = tmp_path / "ref"
        write_folder(folder, {"about": b"oldest", "texts/a": b"oldest"})

        def die(path: Path, ignore_errors: bool = False) -> None:
            (path / "about").unlink(missing_ok=True)
            raise KeyboardInterrupt

        with monkeypatch.context() as patches:
            patches.setattr(shutil, "rmtree", die)
            with pytest.raises(KeyboardInterrupt):
                write_folder(folder, {"about": b"old"})
        os.utime(folder, (0, 0))  # what is half removed was touched last
        folder.rename(tmp_path / f".ref.{NOBODY}{storage.OLD}")
        assert storage.restore_folder(folder)
        assert files_in(folder) == {"about": b"old"}

    def test_what_an_earlier_process_of_the_same_number_left_stands_in_nobodys_way(self, tmp_path: Path) -> None:
        """In containers all have the same."""
        folder = tmp_path / "ref"
        for end in (storage.OLD, storage.PART, storage.GONE):
            write_folder(folder, {"about": b"old"})
            shutil.copytree(folder, tmp_path / f".ref.{os.getpid()}{end}")
            for content in (b"new", b"newer"):
                write_folder(folder, {"about": content})
                assert (names_in(tmp_path), files_in(folder)) == (["ref"], {"about": content})

    def test_what_a_killed_process_had_begun_is_swept(self, tmp_path: Path) -> None:
        (tmp_path / f".ref.{NOBODY}{storage.PART}").mkdir()
        (tmp_path / f".ref.{os.getppid()}{storage.PART}").mkdir()  # that one lives
        write_folder(tmp_path / "ref", {"about": b"new"})
        assert names_in(tmp_path) == [f".ref.{os.getppid()}{storage.PART}", "ref"]

    @pytest.mark.parametrize("number", [NOBODY, os.getpid(), os.getppid()], ids=["dead", "own", "alive"])
    @pytest.mark.parametrize("name", ["ref.v2", "ref.7"])
    def test_one_whose_name_goes_on_after_a_dot_is_another(self, tmp_path: Path, name: str, number: int) -> None:
        taken = tmp_path / f".{name}.{number}{storage.OLD}"
        taken.mkdir()
        (taken / "about").write_bytes(b"theirs")
        os.utime(taken, (0, 0))
        assert not storage.restore_folder(tmp_path / "ref")
        for content in (b"mine", b"mine again"):
            write_folder(tmp_path / "ref", {"about": content})
        assert (names_in(tmp_path), files_in(taken)) == ([taken.name, "ref"], {"about": b"theirs"})

    def test_one_that_comes_back_is_not_replaced_by_who_has_not_seen_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "ref"
        write_folder(folder, {"about": b"old"})
        folder.rename(tmp_path / f".ref.{NOBODY}{storage.OLD}")
        assert refusal(RunError, write_folder, folder, {"about": b"new"}).where == str(folder)
        assert (names_in(tmp_path), files_in(folder)) == (["ref"], {"about": b"old"})
        write_folder(folder, {"about": b"new"})
        assert files_in(folder) == {"about": b"new"}

    def test_a_file_in_its_place_is_refused_and_stays(self, tmp_path: Path) -> None:
        (tmp_path / "ref").write_bytes(b"a letter")
        (tmp_path / "link").symlink_to("ref")
        for name in ("ref", "link"):
            assert refusal(RunError, write_folder, tmp_path / name, {"about": b"new"}).where == str(tmp_path / name)
        assert (names_in(tmp_path), (tmp_path / "ref").read_bytes()) == (["link", "ref"], b"a letter")

    def test_the_old_one_is_restored_if_the_new_one_cannot_be_moved_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And not what an earlier process left."""
        folder, stale = tmp_path / "ref", tmp_path / f".ref.{NOBODY}{storage.OLD}"
        write_folder(folder, {"about": b"first"})
        write_folder(stale, {"about": b"stale"})
        write_folder(folder, {"about": b"old"})
        assert names_in(tmp_path) == ["ref"]
        write_folder(stale, {"about": b"stale"})

        def fail(_: Path, __: Path) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", fail)
        error = refusal(RunError, write_folder, folder, {"about": b"new"})
        assert str(error.remedy).startswith("Make room")
        assert (folder / "about").read_bytes() == b"old"

    def test_what_a_living_process_took_away_is_left_to_it(self, tmp_path: Path) -> None:
        write_folder(tmp_path / f".ref.{os.getppid()}{storage.OLD}", {"about": b"old"})
        storage.restore_folder(tmp_path / "ref")
        assert not (tmp_path / "ref").exists()

    def test_a_link_to_a_folder_stays_one_and_long_names_do(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "real", {"about": b"old"})
        (tmp_path / "link").symlink_to("real")
        write_folder(tmp_path / "link", {"about": b"new"})
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real" / "about").read_bytes() == b"new"
        write_folder(tmp_path / ("n" * 250), {"about": b"new"})
        assert sorted(names_in(tmp_path)) == ["link", "n" * 250, "real"]

    def test_so_it_is_after_a_kill_at_the_worst_moment(self, tmp_path: Path) -> None:
        folder = tmp_path / "a[b]"
        write_folder(folder, {"about": b"old"})
        folder.rename(tmp_path / f".a[b].{NOBODY}{storage.OLD}")  # what a process that was killed there leaves
        storage.restore_folder(folder)
        assert (names_in(tmp_path), (folder / "about").read_bytes()) == (["a[b]"], b"old")
        storage.restore_folder(folder)
        assert names_in(tmp_path) == ["a[b]"]


class TestReading:
    """What is read of a file is no more than it says that it has, and no more than anybody writes."""

    @pytest.mark.parametrize("read", [storage.read_regular_file, storage.hash_file])
    def test_one_that_is_sparse_and_huge_is_refused_before_it_is_read(
        self, tmp_path: Path, read: Callable[[Path], object]
    ) -> None:
        path = tmp_path / "sparse"
        with path.open("wb") as file:
            file.truncate(2**42)
        with pytest.raises(OSError, match="larger than 4 GB"):
            read(path)

    def test_values_are_smaller_still(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.json"
        with path.open("wb") as file:
            file.truncate(600_000_000)
        with pytest.raises(RunError, match=r"larger than 0\.5 GB"):
            storage.read_checked_json(path)

    @pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="a file without an end is wanted")
    def test_one_without_an_end_is_read_to_the_size_that_it_says(self) -> None:
        assert storage.read_regular_file(Path("/proc/self/pagemap")) == b""
        assert storage.hash_file(Path("/proc/self/pagemap")) == storage.sha256(b"")

    def test_a_hash_is_of_all_of_it(self, tmp_path: Path) -> None:
        content = os.urandom(3_000_001)
        (tmp_path / "x").write_bytes(content)
        assert storage.hash_file(tmp_path / "x") == storage.sha256(content)


class TestTwoWriters:
    def test_two_processes_that_write_one_file_don_t_disturb_each_other(self, tmp_path: Path) -> None:
        """One may find the other's unfinished file, and not find it again a moment later."""
        code = (
            "import sys; from pathlib import Path; from byline.storage.files import write_files\n"
            "for n in range(400): write_files(Path(sys.argv[1]), {'m.json': sys.argv[2].encode() * 99})"
        )
        both = [
            subprocess.Popen([sys.executable, "-c", code, str(tmp_path), word], stderr=subprocess.PIPE, text=True)
            for word in "ab"
        ]
        said = [process.communicate(timeout=60)[1] for process in both]
        assert (said, [process.returncode for process in both]) == (["", ""], [0, 0])
        assert names_in(tmp_path) == ["m.json"]
        assert (tmp_path / "m.json").read_bytes() in (b"a" * 99, b"b" * 99)


class TestWhatIsOutdated:
    def test_a_folder_that_was_replaced_does_not_come_back_when_the_new_one_is_deleted(self, tmp_path: Path) -> None:
        """Though the process that replaced it was killed before it had removed it."""
        (tmp_path / "ref").mkdir()
        (tmp_path / f".ref.{NOBODY}{storage.OLD}").mkdir()
        assert not storage.restore_folder(tmp_path / "ref")
        (tmp_path / "ref").rmdir()
        assert not storage.restore_folder(tmp_path / "ref")
        assert names_in(tmp_path) == []

    def test_a_link_among_unfinished_things_goes_and_what_it_leads_to_stays(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/file").write_bytes(b"x")
        (tmp_path / "run").mkdir()
        (tmp_path / "run/.taking.part").symlink_to(tmp_path / "elsewhere")
        storage.remove_parts(tmp_path / "run")
        assert (names_in(tmp_path / "run"), names_in(tmp_path / "elsewhere")) == ([], ["file"])
