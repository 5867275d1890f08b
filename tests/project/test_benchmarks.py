"""The benchmarks still run: each on something tiny."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from paths import ROOT
from samples import phrase


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder of benchmarks is where modules are looked for."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield
    for name in (
        "attribution",
        "cautions",
        "clustering",
        "fit_whole_corpora",
        "judging",
        "pan",
        "rolling",
        "sampling",
        "speed",
        "stored",
    ):
        sys.modules.pop(name, None)


def pan_options(**changes: object) -> argparse.Namespace:
    usual = {
        "preset": None,
        "members": None,
        "budget": None,
        "set": [],
        "control": False,
        "reference": False,
        "engines": None,
        "placebo": False,
        "runs": None,
    }
    return argparse.Namespace(**{**usual, **changes})


def test_quality_is_measured_of_one_member_and_of_an_ensemble(english: Path) -> None:
    import pan

    tiny = ["hidden=4", "sub_epochs=2"]
    single = pan.run(english.parent, "english", 0, pan_options(set=tiny))
    assert single["members"] == 1
    assert single["member_products"] == [single["texts"]["product"]]
    several = pan.run(english.parent, "english", 0, pan_options(set=tiny, preset="rnn", members=3))
    assert len(several["member_products"]) == 3
    assert {"auc", "c_at_1", "product"} == several["radius"].keys()
    assert pan.run(english.parent, "english", 0, pan_options(set=tiny, placebo=True))["texts"]["auc"] != 1


def test_cautions_are_measured(
    english: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import cautions
    from byline.corpora.problems import read_problems

    monkeypatch.setattr(cautions, "GROWTH", (5,))
    monkeypatch.setattr(cautions, "DRAWS", 2)
    found = cautions.measure({"english": read_problems(english).problems})
    assert found["cautions"][0]["corpus"] == "english"
    assert found["marks"].keys() == cautions.FEATURES.keys()
    assert found["draws"][0]["said"] == 0
    cautions.print_tables(found)
    assert "| english | 12 |" in capsys.readouterr().out


def test_changes_of_hand_are_measured() -> None:
    import rolling

    first, second = np.array([[0.9, 0.1]] * 4), np.array([[0.1, 0.9]] * 4)
    middles = [1500.0 + 1000 * window for window in range(8)]
    one = rolling.Case(middles, np.concatenate([first, first]), 0, 1, None)
    seam = rolling.Case(middles, np.concatenate([first, second]), 0, 1, 5000)
    unseen = rolling.Case(middles, np.concatenate([first, first]), 0, 1, 5000)
    assert rolling.judge([one, seam], 0.1) == {"right": 1, "found": 1, "false": 0}
    assert rolling.judge([one, seam], 1e-9) == {"right": 0.75, "found": 0, "false": 0}
    assert rolling.judge([one, seam, unseen], 0.1)["found"] == 0.5
    assert rolling.judge([seam._replace(seam=None), seam], 0.1)["false"] == 1


def test_samples_of_heads_are_measured(english: Path) -> None:
    import sampling

    rows = sampling.sample(english, None)
    assert rows[0]["sample"] is None
    assert [row["sample"] for row in rows[1:]] == [10]
    assert 0 < rows[1]["correlation"] <= 1
    assert sampling.grow(6)["seconds"] > 0


def test_what_evidence_costs_is_measured(
    english: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import evidence

    cost = evidence.weigh(english, "vectors", 1)
    assert cost["seconds_with"] > 0
    assert cost["evidence_bytes"] > 0
    growth = [
        {"problems": 6, "work": "verify", "evidence": "kept", **evidence.answer(6, True, tmp_path)},
        {"problems": 6, "work": "explain", "evidence": "read", **evidence.explain(tmp_path, "p3")},
    ]
    monkeypatch.setattr(evidence, "STORED", tmp_path / "stored.json")
    for row in (*growth, growth[0]):
        evidence.store("growth", ("problems", "work", "evidence"), row)
    assert evidence.read_stored()["growth"] == growth
    evidence.print_tables({"costs": [cost], "growth": growth})
    printed = capsys.readouterr().out
    assert "| 6 | verify | kept |" in printed
    assert "| 6 | explain | read |" in printed


@pytest.mark.parametrize("work", ["train", "score"])
def test_speed_is_measured(work: str) -> None:
    import speed

    prepare = {"train": speed.prepare_training, "score": speed.prepare_scoring}[work]
    assert prepare(speed.Row(work, hidden=4, heads=3, text=500))() > 0


def test_clusters_are_measured_of_parts_and_of_strangers(capsys: pytest.CaptureFixture[str]) -> None:
    import clustering

    truth = [author for author in range(6) for _ in range(3)]
    given = clustering.Texts([phrase(author, 700, place) for place, author in enumerate(truth)], truth, "english")
    part = clustering.measure_parts([given, given], 9)
    assert (part["corpus"], part["texts"], part["authors"]) == ("4 parts", 9, 3)
    assert part["byline"] == {"clusters": 3.0, "bcubed_f": 1.0, "average_precision": 1.0}
    assert part["alone"] == {"clusters": 9.0, "bcubed_f": 0.5, "average_precision": None}  # precision 1, recall 1/3
    strangers = clustering.measure_parts([given], 6, strangers=True)
    assert (strangers["corpus"], strangers["authors"]) == ("2 sets of strangers", 6)
    assert strangers["alone"]["bcubed_f"] == 1
    run = {"corpus": "made up", "texts": 18, "authors": 6, **clustering.measure(given)}
    clustering.print_table({"runs": [run], "others": [], "parts": [part, strangers]})
    rows = [row.split("|") for row in capsys.readouterr().out.splitlines()]
    assert {len(row) for row in rows} == {len(rows[0])}
    assert [row[1].strip() for row in rows[2:]] == ["made up", "plain mean", "4 parts", "2 sets of strangers"]


def test_coefficients_of_whole_corpora_are_fitted_to_calibrated_ratios() -> None:
    """Of two norms, one tells authors apart; the midpoint lies between yes and no, and ratios cost little."""
    import fit_whole_corpora
    from byline.judgment.metrics import cllr

    rng = np.random.default_rng(0)
    truths = {f"corpus {n}": np.arange(40) % 2 == 0 for n in range(4)}
    tables = {
        name: np.array([rng.normal(0, 1, 40), rng.normal(2.5 * same + 0.2 * number, 0.8)])
        for number, (name, same) in enumerate(truths.items())
    }
    plain = {name: same.tolist() for name, same in truths.items()}
    fitted = fit_whole_corpora.fit_coefficients(tables, plain)
    assert fitted.preference > 0
    assert fitted.corpora == tuple(truths)
    for name, table in tables.items():
        assert cllr(plain[name], fit_whole_corpora.rate(table, fitted)) < 0.6
    table = tables["corpus 0"].copy()
    table[:, 3] = np.nan
    ratios = fit_whole_corpora.rate(table, fitted)
    assert np.isnan(ratios).tolist() == [place == 3 for place in range(40)]
    line = fit_whole_corpora.fit_ratio_line(tables, plain, fitted)
    assert 0.5 < line.slope < 2
