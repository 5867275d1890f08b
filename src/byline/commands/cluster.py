"""`byline cluster`: which of these texts belong together?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from byline.commands import options

if TYPE_CHECKING:
    from byline.clustering import Clustering

SHOWN = 10
"""Links that are shown."""


def cluster_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of texts, or a PAN 2016 corpus.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="Folder for clusters, ranking, tree and network."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(metavar="LINK", help="The average link at which clusters are joined; higher makes more.")
    ] = 2.5,
    language: options.Language = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what OUT holds already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print clusters and links as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Group texts by author: how strongly each two are linked, and clusters, as many as the data suggest.

    Example: byline cluster letters/ -o out/
    """
    from byline.clusterfiles import read_text_folders, require_room, write_clustering
    from byline.clustering import cluster_documents
    from byline.commands.console import print_json
    from byline.commands.work import work
    from byline.pools import read_pool

    folders = read_text_folders(folder)
    if output is not None:
        for each in folders:
            require_room(output / each.name, overwrite)
    rows = read_pool("authors").only(["vectors", "ngram"]).rows
    found = []
    for each in folders:
        spoken = language or each.language

        def cluster(watch: Any, each: Any = each, spoken: str | None = spoken) -> Clustering:
            return cluster_documents(each.documents, rows, spoken, threshold, watch)

        clustering = work(cluster, quiet)
        if output is not None:
            write_clustering(output / each.name, clustering, overwrite)
        found.append((each.name, clustering))
    if as_json:
        values = [{"problem": name, **to_json(clustering)} for name, clustering in found]
        print_json(values if len(folders) > 1 or folders[0].name else {**to_json(found[0][1])})
        return
    for name, clustering in found:
        print_clustering(name, clustering)
    if output is not None:
        print(f"Clusters, ranking, tree and network are in {output}")


def to_json(clustering: Clustering) -> dict[str, Any]:
    """Clusters, and all links by their strength."""
    names = clustering.names
    pairs = [(one, other) for one in range(len(names)) for other in range(one + 1, len(names))]
    pairs.sort(key=lambda pair: -clustering.links[pair])
    return {
        "clusters": [[names[text] for text in cluster] for cluster in clustering.clusters],
        "links": [
            {
                "documents": [names[one], names[other]],
                "link": float(clustering.links[one, other]),
                "score": clustering.score(one, other),
            }
            for one, other in pairs
        ],
        "tree": clustering.newick(),
    }


def print_clustering(name: str, clustering: Clustering) -> None:
    """The clusters of several texts, those alone in a line, and the strongest links."""
    from byline.commands.console import count_of, out, printable

    console = out()
    clusters = clustering.clusters
    several = sorted((cluster for cluster in clusters if len(cluster) > 1), key=lambda cluster: -len(cluster))
    title = f"{printable(name)}: " if name else ""
    console.print(f"{title}{count_of(len(clustering.names), 'text')}, {count_of(len(clusters), 'cluster')}")
    for number, cluster in enumerate(several, start=1):
        console.print(f"{number:>3}  {', '.join(printable(clustering.names[text]) for text in cluster)}")
    alone = [printable(clustering.names[cluster[0]]) for cluster in clusters if len(cluster) == 1]
    if alone:
        console.print(f"alone: {', '.join(alone)}")
    pairs = [(one, other) for one in range(len(clustering.names)) for other in range(one + 1, len(clustering.names))]
    pairs.sort(key=lambda pair: -clustering.links[pair])
    console.print("strongest links, in usual deviations from what two authors' texts score:")
    for pair in pairs[:SHOWN]:
        one, other = (printable(clustering.names[text]) for text in pair)
        console.print(f"{clustering.links[pair]:6.2f}  {one} - {other}")
