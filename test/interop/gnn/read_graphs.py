"""Compares the graphs that networkx and igraph read from the exports of a model: python read_graphs.py EXPORTED

EXPORTED.json contains the expected graph; EXPORTED.graphml, .gexf and .adjacency must have every node and edge of it,
with type, dimensions, term, direction, label, constraint and steps of time.
"""

import json
import re
import sys

import igraph
import networkx

exported = sys.argv[1]


def base(name):
    return re.sub(r"_t(?:[+-]\d+)?$", "", name) or name


def shift(name):
    found = re.search(r"_t([+-]\d+)$", name)
    return int(found.group(1)) if found else 0


def wanted(model):
    """Returns the nodes by name, and the edges as tuples, of the variables and edges in the JSON."""
    terms = {base(name): term for name, term in model["ontology"].items()}
    nodes = {}
    for one in model["variables"]:
        name = base(one["name"])
        dimensions = ",".join(str(length) for length in one["dimensions"])
        nodes.setdefault(name, (one.get("type", ""), dimensions, terms.get(name, "")))
    edges = []
    for one in model["edges"]:
        for end in (one["source"], one["target"]):
            nodes.setdefault(base(end), ("", "", ""))
        shifts = shift(one["source"]), shift(one["target"])
        ends = base(one["source"]), base(one["target"])
        edges.append((*ends, one["directed"], one.get("label", ""), one.get("constraint", ""), *shifts))
    return nodes, sorted(edges)


def found(nodes, edges, label="relation", steps=("source_shift", "target_shift")):
    """Returns nodes and edges in the same form, from the (id, attributes) and (source, target, attributes) of a
    reader."""
    names = {id: base(item["name"]) for id, item in nodes}
    told = {names[id]: (item["type"], item["dimensions"], item["ontology"]) for id, item in nodes}
    rows = []
    for source, target, item in edges:
        shifts = [int(item[step]) for step in steps]
        row = bool(item["directed"]), item[label] or "", item["constraint"] or "", *shifts
        rows.append((names[source], names[target], *row))
    return told, sorted(rows)


def of_networkx(graph, **names):
    return found(graph.nodes(data=True), graph.edges(data=True), **names)


def of_igraph(graph):
    edges = [(edge.source, edge.target, edge.attributes()) for edge in graph.es]
    return found([(node.index, node.attributes()) for node in graph.vs], edges)


with open(f"{exported}.json", encoding="utf8") as file:
    (model,) = json.load(file)["models"]
with open(f"{exported}.adjacency", encoding="utf8") as file:
    adjacency = networkx.adjacency_graph(json.load(file))
there = wanted(model)
read = {
    "GraphML by networkx": of_networkx(networkx.read_graphml(f"{exported}.graphml")),
    "GEXF by networkx": of_networkx(networkx.read_gexf(f"{exported}.gexf")),
    "the adjacency list by networkx": of_networkx(adjacency, label="label", steps=("sourceShift", "targetShift")),
    "GraphML by igraph": of_igraph(igraph.Graph.Read_GraphML(f"{exported}.graphml")),
}
wrong = [f"{reader}:\n  {got}\n  in place of\n  {there}" for reader, got in read.items() if got != there]
print("\n".join(wrong) or f"{len(there[0])} nodes and {len(there[1])} edges found by each of {len(read)} readers")
sys.exit(1 if wrong else 0)
