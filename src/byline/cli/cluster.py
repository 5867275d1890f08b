"""`byline cluster`: group texts by author."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

import byline
from byline.cli import options
from byline.cli.console import count_of, out, print_json, print_line, printable
from byline.errors import RunError

if TYPE_CHECKING:
    from byline.engines.protocol import Runtime
    from byline.tasks.cluster import Clustering
    from byline.tasks.pan_collections import TextFolder

SHOWN = 10
"""The number of links that are printed."""


def cluster_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of texts, or a PAN 2016 corpus.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="Folder for clusters, ranking, tree and network."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(metavar="LINK", help="Join clusters as long as their average link is this or more."),
    ] = None,
    engines: Annotated[
        str,
        typer.Option(
            metavar="vectors,ngram",
            help="Use only members with these engines; vectors alone is quick.",
            autocompletion=options.several_of(("vectors", "ngram")),
        ),
    ] = "vectors,ngram",
    language: options.Language = None,
    report_file: options.ReportFile = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Group texts by author: how strongly each two are linked, and as many clusters as the data suggest.

    Example: byline cluster letters/ -o out/
    """
    from byline.cli.progress import work
    from byline.report.clustering import clustering_report
    from byline.report.page import describe_report, write_report
    from byline.tasks.cluster import PRESET
    from byline.tasks.pan_collections import read_text_folders, require_room, write_clustering

    members = options.change_pool(byline.read_pool(PRESET), engines).rows
    options.require_free_report(report_file, overwrite, [folder])
    folders = read_text_folders(folder)
    if report_file is not None and len(folders) > 1:
        raise RunError(
            f"holds {len(folders)} problems, and a report shows one",
            where=folder,
            remedy="Name the folder of one problem",
        )
    if output is not None:
        for each in folders:
            require_room(output / each.name, overwrite)
    found = []
    for each in folders:

        def cluster(runtime: Runtime, each: TextFolder = each) -> Clustering:
            return byline.cluster_documents(each.documents, members, language or each.language, threshold, runtime)

        clustering = work(cluster, quiet)
        if output is not None:
            write_clustering(output / each.name, clustering, overwrite)
        found.append((each.name, clustering))
    if report_file is not None:
        about = describe_report(str(folder), context.meta["words"])
        ((_, clustering),) = found
        documents = folders[0].documents
        write_report(report_file, work(lambda runtime: clustering_report(clustering, about, documents, runtime), quiet))
    if as_json:
        values = [{"problem": name, **clustering.to_dict()} for name, clustering in found]
        print_json(values if len(folders) > 1 or folders[0].name else found[0][1].to_dict())
        return
    for name, clustering in found:
        print_clustering(name, clustering)
    if output is not None:
        print_written(folder, output)
    if report_file is not None:
        print_line(f"Report: {report_file}")


def print_clustering(name: str, clustering: Clustering) -> None:
    """Print the clusters of several texts, the other texts in one line, and the strongest links."""
    console = out()
    names = [printable(each) for each in clustering.names]
    clusters = clustering.clusters
    several = sorted((cluster for cluster in clusters if len(cluster) > 1), key=lambda cluster: -len(cluster))
    alone = [names[cluster[0]] for cluster in clusters if len(cluster) == 1]
    title = f"{printable(name)}: " if name else ""
    console.print(f"{title}{count_of(len(names), 'text')}, {count_of(len(clusters), 'cluster')}", soft_wrap=False)
    if clustering.few:
        console.print("The number of clusters is uncertain with so few texts; look at the links.", soft_wrap=False)
    table = _make_list()
    for number, cluster in enumerate(several, start=1):
        table.add_row(str(number), ", ".join(names[text] for text in cluster))
    if alone:
        table.add_row("alone", ", ".join(alone))
    console.print(table, soft_wrap=False)
    console.print(
        f"strongest links, in standard deviations; the threshold is {clustering.threshold:.2f}:", soft_wrap=False
    )
    table = _make_list()
    for one, other in clustering.strongest(SHOWN):
        table.add_row(f"{clustering.links[one, other]:.2f}", f"{names[one]} - {names[other]}")
    console.print(table, soft_wrap=False)


def _make_list() -> Table:
    """Return a table of a number or word and a line that is folded."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def print_written(folder: Path, output: Path) -> None:
    """Print where the files are, and what can be done with them."""
    from byline.tasks.evaluate import is_clustering
    from byline.tasks.pan_collections import CLUSTERING_INFO, NETWORK

    print_line(f"Clusters, ranking, tree and network are in {output}")
    if (folder / CLUSTERING_INFO).is_file():
        truth = shlex.quote(str(folder)) if is_clustering(folder) else "TRUTH"
        print_line(f"Next: byline evaluate {shlex.quote(str(output))} {truth}")
    else:
        print_line(f"Next: open {output / NETWORK} in Gephi")
