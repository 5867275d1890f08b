"""Does a gated recurrent unit help? The paper's plain recurrence and a GRU, with everything else the same, in PyTorch.

    BYLINE_DATA=folder-of-corpora python benchmarks/gru.py
    python benchmarks/gru.py --cells resqrt,tanh,gru --hidden 80 --seeds 1 --corpora pan15
    python benchmarks/gru.py --rate 0.1         the same rate for all cells, in place of those chosen
    python benchmarks/gru.py --table            print the stored results again, run nothing; with --rate, those with it
    python benchmarks/gru.py --check            compare gradients with numerical ones, run nothing

The cells: `resqrt` and `tanh` are the plain recurrence, `gru` the gated one, all with --hidden units; `resqrt-wide` is
the plain one with as many units as give its recurrent layer the number of weights that the GRU's has. Most weights are
in the heads, so that with equal units the numbers of all weights are nearly equal too.

Before a cell's first run its rate is chosen from RATES, on CHOOSERS: heads learn all but the ends of their texts, and
the rate with which they need the fewest bits for the ends is taken. No truth is looked at. Then each corpus, cell and
seed is trained, scored, ranked and measured like a member in benchmarks/pan.py, and stored in
benchmarks/results/gru.json as soon as it is done. What is stored is not run again; remove it to begin anew. Seconds are
the processor's. benchmarks/cells.py says how they learn.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byline.corpora.answers import match_truth, read_truth
from byline.corpora.problems import read_problems
from byline.engines.matrix import Matrix
from byline.engines.questions import PreparedQuestions, prepare_questions
from byline.judgment.interpretation import center, stretch
from byline.judgment.metrics import measure
from byline.judgment.score_normalization import rank_scores
from byline.settings.settings import Settings
from pan import keep
from stored import RESULTS, commit

CELLS = ("resqrt", "tanh", "gru")
WIDE = "-wide"
RATES = (0.1, 0.2, 0.4, 0.8)
CHOOSERS = ("pan14-train-du_reviews", "pan15-train-english", "pan15-train-spanish")
KEPT_BACK = 0.1
"""The share of each text, at its end, that a rate is chosen on."""
SHARED = ("noise", "leakage", "leakage_decay", "skip", "handling", "train_on", "text_rules", "ranking", "radius")
"""The settings that matter here and are not options: the program's defaults."""
EPOCHS = 12
"""With 20, the program's default, heads need about as many bits for the ends of English texts."""


def prepare(folder: Path, settings: Settings) -> PreparedQuestions:
    return prepare_questions(list(read_problems(folder).problems), settings)


def try_rate(folder: Path, name: str, settings: Settings, rate: float) -> float:
    """Bits a character that heads need for the ends of their own texts, which they didn't learn; on one side only."""
    import cells

    questions = prepare(folder, settings).sides[-1]
    ends = [round(len(text) * (1 - KEPT_BACK)) for text in questions.texts]
    shorter = tuple(text[:end] for text, end in zip(questions.texts, ends, strict=True))
    rng = np.random.default_rng([0, 0])
    network = cells.start(name.removesuffix(WIDE), questions, settings, rng, wide=name.endswith(WIDE))
    cells.train(network, dataclasses.replace(questions, texts=shorter), settings, rate, rng)
    pairs = [(text, head) for head, texts in enumerate(questions.heads) for text in texts]
    learned = sorted({text for text, _ in pairs})
    place = {text: number for number, text in enumerate(learned)}
    bits = cells.score(network, [questions.texts[t] for t in learned], [ends[t] for t in learned], len(questions.heads))
    needed = sum(bits[place[text], head] for text, head in pairs)
    mean = needed / sum(len(questions.texts[text]) - ends[text] for text, _ in pairs)
    return round(float(mean), 4) if np.isfinite(mean) else float("inf")


def run(folder: Path, name: str, settings: Settings, rate: float, seed: int) -> dict[str, object]:
    """One corpus, cell and seed: what it needed, and its measures."""
    import cells

    prepared = prepare(folder, settings)
    begin = time.process_time()
    matrices: list[Matrix] = []
    bits: list[float] = []
    for number, questions in enumerate(prepared.sides):
        rng = np.random.default_rng([seed, number])
        network = cells.start(name.removesuffix(WIDE), questions, settings, rng, wide=name.endswith(WIDE))
        bits.append(cells.train(network, questions, settings, rate, rng))
        matrices.append(cells.fill_matrix(network, questions, settings.skip))
    seconds = time.process_time() - begin
    scores = np.zeros(len(prepared.problems))
    ways = np.zeros(len(prepared.problems))
    for matrix, questions in zip(matrices, prepared.sides, strict=True):
        for question, rank in zip(
            questions.questions, rank_scores(matrix, questions.questions, settings.ranking), strict=True
        ):
            scores[question.problem] += rank
            ways[question.problem] += 1
    scores = np.round(scores / ways, 9)
    values = stretch(scores, center(scores), settings.radius)
    answers = {problem.id: float(value) for problem, value in zip(prepared.problems, values, strict=True)}
    measures = measure(*match_truth(answers, read_truth(folder), folder.name))
    recurrent, parameters = network.sizes()
    return {
        "corpus": folder.name,
        "cell": name,
        "hidden": settings.hidden,
        "units": network.hidden,
        "recurrent": recurrent,
        "parameters": parameters,
        "seed": seed,
        "epochs": settings.sub_epochs,
        "rate": rate,
        "seconds": round(seconds, 1),
        "bits": round(float(np.mean(bits)), 4),
        **{key: round(getattr(measures, key), 4) for key in ("auc", "c_at_1", "product")},
    }


def choose_rate(pool: ProcessPoolExecutor, data: Path, name: str, settings: Settings, stored: dict[str, Any]) -> float:
    """The rate with which a cell needs the fewest bits for the ends of texts; what is missing is tried and stored."""
    tried = stored["rates"].setdefault(f"{name} {settings.hidden} {settings.sub_epochs}", {})
    jobs = {
        pool.submit(try_rate, data / corpus, name, settings, rate): (corpus, rate)
        for corpus in CHOOSERS
        for rate in RATES
        if str(rate) not in tried.get(corpus, {})
    }
    for job in as_completed(jobs):
        corpus, rate = jobs[job]
        tried.setdefault(corpus, {})[str(rate)] = job.result()
        keep(RESULTS / "gru.json", stored)
        print(f"{name} rate {rate} {corpus}: {job.result():.3f} bits", file=sys.stderr, flush=True)
    return best_rate(tried)


def best_rate(tried: dict[str, dict[str, float]]) -> float:
    """From corpus -> rate -> bits, as far as there are any."""
    return min(RATES, key=lambda rate: sum(tried.get(corpus, {}).get(str(rate), 0.0) for corpus in CHOOSERS))


def load(path: Path, settings: Settings) -> dict[str, Any]:
    """What is stored."""
    shared = {key: getattr(settings, key) for key in SHARED}
    if not path.exists():
        return {"settings": shared, "rates": {}, "runs": []}
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if stored["settings"] != shared:
        sys.exit(f"{path} holds results of other settings; remove it")
    return stored


def identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("cell", "hidden", "epochs", "rate", "corpus", "seed"))


def main() -> None:
    options = parse_options()
    path = RESULTS / "gru.json"
    if options.check:
        import cells

        cells.check_gradients()
        return
    if options.table:
        print_tables(json.loads(path.read_text(encoding="utf-8")), options.rate)
        return
    wanted = options.cells.split(",")
    if unknown := [cell for cell in wanted if cell.removesuffix(WIDE) not in CELLS]:
        sys.exit(f"no such cell: {', '.join(unknown)}; there are {', '.join(CELLS)}, and each of them with {WIDE}")
    settings = Settings(hidden=options.hidden, sub_epochs=options.epochs)
    stored = load(path, settings)
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    corpora = sorted(child.name for child in data.iterdir() if (child / "truth.txt").exists())
    if options.corpora:
        corpora = [corpus for corpus in corpora if any(part in corpus for part in options.corpora.split(","))]
    with ProcessPoolExecutor(options.jobs) as pool:
        made_by = commit()
        rates = {cell: options.rate or choose_rate(pool, data, cell, settings, stored) for cell in wanted}
        done = {identity(row) for row in stored["runs"]}
        jobs = [
            pool.submit(run, data / corpus, cell, settings, rates[cell], seed)
            for seed in range(options.seeds)
            for corpus in corpora
            for cell in wanted
            if (cell, settings.hidden, settings.sub_epochs, rates[cell], corpus, seed) not in done
        ]
        for job in as_completed(jobs):
            row = {**job.result(), "commit": made_by}
            stored["runs"].append(row)
            keep(path, stored)
            print(
                f"{row['corpus']} {row['cell']} seed {row['seed']}: {row['product']:.3f}, {row['seconds']} s",
                file=sys.stderr,
                flush=True,
            )
    print_tables(stored, options.rate)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="resqrt,resqrt-wide,gru", help="joined by commas (default: %(default)s)")
    parser.add_argument("--hidden", type=int, default=Settings().hidden, help="units (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="sub-epochs (default: %(default)s)")
    parser.add_argument("--rate", type=float, help="for all cells; by default the one chosen for each")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--corpora", help="parts of corpus names, joined by commas")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    parser.add_argument("--check", action="store_true", help="compare gradients with numerical ones, run nothing")
    return parser.parse_args()


def print_tables(stored: dict[str, Any], rate: float | None) -> None:
    """By corpus and cell, then by cell: the runs with the rates that were chosen, or with this one."""
    chosen = {} if rate else {name: best_rate(tried) for name, tried in stored["rates"].items()}
    runs = [
        row
        for row in stored["runs"]
        if row["rate"] == (rate or chosen.get(f"{row['cell']} {row['hidden']} {row['epochs']}"))
    ]
    if not runs:
        sys.exit("nothing is stored that could be printed")
    order = [*CELLS, *(cell + WIDE for cell in CELLS)]
    columns = sorted({identity(row)[:4] for row in runs}, key=lambda column: (column[1:], order.index(column[0])))
    of = {column: [row for row in runs if identity(row)[:4] == column] for column in columns}
    names = {column: f"{of[column][0]['cell']} {_span(of[column], 'units')}, rate {column[3]}" for column in columns}
    corpora = sorted({row["corpus"] for row in runs})
    print(f"| corpus | {' | '.join(f'{names[column]}: AUC | product | bits' for column in columns)} |")
    print("|---|" + "---|---|---|" * len(columns))
    for corpus in corpora:
        means = [_mean(of[column], corpus, key) for column in columns for key in ("auc", "product", "bits")]
        print(f"| {corpus} | {' | '.join(means)} |")
    common = [corpus for corpus in corpora if all(any(r["corpus"] == corpus for r in rows) for rows in of.values())]
    if not common:
        return
    print(
        f"\nMeans over the corpora that all have ({len(common)}), and the product less that of {names[columns[0]]}:\n"
    )
    print(
        "| cell | sub-epochs | recurrent weights | all weights | AUC | C@1 | product | less | s.e. | bits | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    first = _by_corpus(of[columns[0]], common, "product")
    for column in columns:
        rows = [row for row in of[column] if row["corpus"] in common]
        keys = ("auc", "c_at_1", "product", "bits", "seconds")
        auc, c_at_1, product, bits, seconds = (float(_by_corpus(rows, common, key).mean()) for key in keys)
        less = _by_corpus(rows, common, "product") - first
        error = f"{less.std(ddof=1) / np.sqrt(len(less)):.3f}" if len(less) > 1 else ""
        sizes = f"{_span(rows, 'recurrent')} | {_span(rows, 'parameters')}"
        print(
            f"| {names[column]} | {column[2]} | {sizes} | {auc:.3f} | {c_at_1:.3f} | {product:.3f}"
            f" | {less.mean():+.3f} | {error} | {bits:.3f} | {seconds:.0f} |"
        )


def _by_corpus(rows: list[dict[str, Any]], corpora: list[str], key: str) -> NDArray[np.float64]:
    return np.array([np.mean([row[key] for row in rows if row["corpus"] == corpus]) for corpus in corpora])


def _mean(rows: list[dict[str, Any]], corpus: str, key: str) -> str:
    values = [row[key] for row in rows if row["corpus"] == corpus]
    return f"{np.mean(values):.3f}" if values else ""


def _span(rows: list[dict[str, Any]], key: str) -> str:
    """The values, least to greatest: what depends on the alphabet or the heads differs between corpora."""
    values = sorted({row[key] for row in rows})
    return f"{values[0]}-{values[-1]}" if len(values) > 1 else str(values[0])


if __name__ == "__main__":
    main()
