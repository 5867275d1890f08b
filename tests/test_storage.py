"""Files are replaced whole, as what they were: links stay links, modes stay, and what is no file is left alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from byline import storage
from byline.errors import RunError
from byline.storage import real_file, write_files, write_folder


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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
        with pytest.raises(RunError, match="one: can't be written to"):
            write_files(tmp_path, {"one": b"new"})


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
        with pytest.raises(RunError, match="pipe: no plain file; choose another name"):
            write_files(tmp_path, {"pipe": b"new"})
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
        assert names_in(tmp_path) == ["pipe"]

    def test_so_is_a_device_behind_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(os.devnull)
        with pytest.raises(RunError, match="link: no plain file"):
            write_files(tmp_path, {"link": b"new"})
        with pytest.raises(RunError, match="null: no plain file"):
            real_file(Path(os.devnull))

    def test_a_folder_is_refused_by_its_name_and_no_other_file_appears(self, tmp_path: Path) -> None:
        (tmp_path / "second").mkdir()
        with pytest.raises(RunError, match=r"second: can't be written to \(Is a directory\)"):
            write_files(tmp_path, {"first": b"new", "second": b"new"})
        assert names_in(tmp_path) == ["second"]

    def test_a_name_may_be_as_long_as_the_system_takes(self, tmp_path: Path) -> None:
        longest = "ü" * 127 + "x"  # 255 bytes
        write_files(tmp_path, {longest: b"new"})
        write_files(tmp_path, {longest: b"newer"})
        assert (tmp_path / longest).read_bytes() == b"newer"
        assert len(names_in(tmp_path)) == 1

    def test_one_that_is_longer_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(RunError, match=r"x{256}: can't be written to \(File name too long\); choose a shorter one"):
            write_files(tmp_path, {"x" * 256: b"new"})
        assert names_in(tmp_path) == []


class TestFolders:
    def test_one_that_cannot_be_removed_is_replaced_all_the_same(self, tmp_path: Path) -> None:
        folder = tmp_path / "ref"
        write_folder(folder, {"about": b"old", "texts/a": b"old"})
        (folder / "texts").chmod(0o500)
        try:
            write_folder(folder, {"about": b"new", "texts/b": b"new"})
        finally:
            for path in tmp_path.rglob("texts"):
                path.chmod(0o700)
        assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == {
            "about": b"new",
            "b": b"new",
        }

    def test_the_old_one_is_put_back_where_the_new_one_cannot_come(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "ref"
        write_folder(folder, {"about": b"old"})

        def fail(_: Path, __: Path) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", fail)
        with pytest.raises(RunError, match="make room"):
            write_folder(folder, {"about": b"new"})
        assert (names_in(tmp_path), (folder / "about").read_bytes()) == (["ref"], b"old")

    def test_what_an_earlier_process_left_is_never_taken_for_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "ref"
        write_folder(tmp_path / f".ref.{2**22 + 1}{storage.OLD}", {"about": b"stale"})  # no process has that number
        write_folder(folder, {"about": b"good"})
        assert names_in(tmp_path) == ["ref"]
        write_folder(tmp_path / f".ref.{2**22 + 1}{storage.OLD}", {"about": b"stale"})
        monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(RunError, match="make room"):
            write_folder(folder, {"about": b"new"})
        assert (folder / "about").read_bytes() == b"good"

    def test_what_a_living_process_took_away_is_left_to_it(self, tmp_path: Path) -> None:
        write_folder(tmp_path / f".ref.{os.getppid()}{storage.OLD}", {"about": b"old"})
        storage.put_back(tmp_path / "ref")
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
        folder.rename(tmp_path / f".a[b].{2**22 + 1}{storage.OLD}")  # what a process that was killed there leaves
        storage.put_back(folder)
        assert (names_in(tmp_path), (folder / "about").read_bytes()) == (["a[b]"], b"old")
        storage.put_back(folder)
        assert names_in(tmp_path) == ["a[b]"]

    def test_too_many_open_files_have_a_remedy_of_their_own(self, tmp_path: Path) -> None:
        assert "ulimit -n" in str(storage.cant_write(tmp_path, OSError(24, "Too many open files")))
