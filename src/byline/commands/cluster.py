"""`byline cluster`: which of these texts belong together?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from byline.commands import options
from byline.errors import RunError

if TYPE_CHECKING:
    from byline.clusterfiles import TextFolder
    from byline.clustering import Clustering
    from byline.engines import Watch

SHOWN = 10
"""Links that are shown."""


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
        str, typer.Option(metavar="vectors,ngram", help="Only members of these engines; vectors alone are quick.")
    ] = "vectors,ngram",
    language: options.Language = None,
    report_file: options.ReportFile = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what OUT holds already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print clusters and links as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Group texts by author: how strongly each two are linked, and clusters, as many as the data suggest.

    Example: byline cluster letters/ -o out/
    """
    from byline.clusterfiles import read_text_folders, require_room, write_clustering
    from byline.clustering import PRESET, cluster_documents
    from byline.commands.console import out, print_json
    from byline.commands.given import given_command
    from byline.commands.places import require_free
    from byline.commands.report import about
    from byline.commands.work import work
    from byline.dossiers.clustering import clustering_dossier
    from byline.reporting import require_report, write_report

    members = options.choose_pool(PRESET, None, [], engines=engines).rows
    if report_file is not None:
        require_report(report_file, overwrite)
        require_free(report_file, overwrite, [folder])
    folders = read_text_folders(folder)
    if report_file is not None and len(folders) > 1:
        raise RunError(f"{folder}: {len(folders)} problems, but a report is of one; name one problem's folder")
    if output is not None:
        for each in folders:
            require_room(output / each.name, overwrite)
    found = []
    for each in folders:

        def cluster(watch: Watch, each: TextFolder = each) -> Clustering:
            return cluster_documents(each.documents, members, language or each.language, threshold, watch)

        clustering = work(cluster, quiet)
        if output is not None:
            write_clustering(output / each.name, clustering, overwrite)
        found.append((each.name, clustering))
    if report_file is not None:
        said = about(str(folder), given_command(context))
        ((_, clustering),) = found
        documents = folders[0].documents
        write_report(report_file, work(lambda watch: clustering_dossier(clustering, said, documents, watch), quiet))
    if as_json:
        values = [{"problem": name, **to_json(clustering)} for name, clustering in found]
        print_json(values if len(folders) > 1 or folders[0].name else to_json(found[0][1]))
        return
    for name, clustering in found:
        print_clustering(name, clustering)
    if output is not None:
        print_written(folder, output)
    if report_file is not None:
        out().print(f"Report: {report_file}")


def to_json(clustering: Clustering) -> dict[str, Any]:
    """Clusters, the link that is just enough, and the strongest links, as many as ranking.json has."""
    names = clustering.names
    return {
        "clusters": [[names[text] for text in cluster] for cluster in clustering.clusters],
        "few": clustering.few,
        "threshold": clustering.threshold,
        "links": [
            {
                "documents": [names[one], names[other]],
                "link": float(clustering.links[one, other]),
                "score": clustering.score(one, other),
            }
            for one, other in clustering.strongest()
        ],
        "tree": clustering.newick(),
    }


def print_clustering(name: str, clustering: Clustering) -> None:
    """The clusters of several texts, those alone in a line, and the strongest links, folded to the width."""
    from rich.table import Table

    from byline.commands.console import count_of, out, printable

    console = out()
    names = [printable(each) for each in clustering.names]
    clusters = clustering.clusters
    several = sorted((cluster for cluster in clusters if len(cluster) > 1), key=lambda cluster: -len(cluster))
    alone = [names[cluster[0]] for cluster in clusters if len(cluster) == 1]
    title = f"{printable(name)}: " if name else ""
    console.print(f"{title}{count_of(len(names), 'text')}, {count_of(len(clusters), 'cluster')}", soft_wrap=False)
    if clustering.few:
        console.print("So few texts say little of how many clusters there are; look at the links.", soft_wrap=False)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for number, cluster in enumerate(several, start=1):
        table.add_row(str(number), ", ".join(names[text] for text in cluster))
    if alone:
        table.add_row("alone", ", ".join(alone))
    console.print(table, soft_wrap=False)
    console.print(f"strongest links, in usual deviations; {clustering.threshold:.2f} is just enough:", soft_wrap=False)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for one, other in clustering.strongest(SHOWN):
        table.add_row(f"{clustering.links[one, other]:.2f}", f"{names[one]} - {names[other]}")
    console.print(table, soft_wrap=False)


def print_written(folder: Path, output: Path) -> None:
    """Where the files are, and what can be done with them."""
    from byline.clusterfiles import INFO, NETWORK, is_clustering
    from byline.commands.console import out, printable

    console = out()
    console.print(printable(f"Clusters, ranking, tree and network are in {output}"), soft_wrap=True)
    if (folder / INFO).is_file():
        truth = shlex.quote(str(folder)) if is_clustering(folder) else "TRUTH"
        line = f"Next: byline evaluate {shlex.quote(str(output))} {truth}"
    else:
        line = f"Next: open {output / NETWORK} in Gephi"
    console.print(printable(line), soft_wrap=True)
