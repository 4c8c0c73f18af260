import type { Graph, GraphEdge, GraphNode } from "./graph.ts";
import { element, escapeXml } from "./xml-text.ts";

type AttributeType = "string" | "boolean" | "int";

interface Attribute<T> {
  readonly name: string;
  readonly type: AttributeType;
  readonly read: (item: T) => string | number | boolean;
}

const NODE_ATTRIBUTES: readonly Attribute<GraphNode>[] = [
  { name: "name", type: "string", read: ({ name }) => name },
  { name: "model", type: "string", read: ({ model }) => model },
  { name: "type", type: "string", read: ({ type }) => type },
  { name: "dimensions", type: "string", read: ({ dimensions }) => dimensions },
  { name: "ontology", type: "string", read: ({ ontology }) => ontology },
  { name: "declared", type: "boolean", read: ({ declared }) => declared },
  { name: "comment", type: "string", read: ({ comment }) => comment },
];

const EDGE_ATTRIBUTES: readonly Attribute<GraphEdge>[] = [
  { name: "directed", type: "boolean", read: ({ directed }) => directed },
  { name: "relation", type: "string", read: ({ label }) => label },
  { name: "constraint", type: "string", read: ({ constraint }) => constraint },
  { name: "source_shift", type: "int", read: ({ sourceShift }) => sourceShift },
  { name: "target_shift", type: "int", read: ({ targetShift }) => targetShift },
  { name: "comment", type: "string", read: ({ comment }) => comment },
];

const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

/**
 * Returns GraphML. The graph is marked as directed, since readers refuse mixed graphs; the attribute `directed` of each
 * edge has the real value.
 */
export function toGraphml({ name, nodes, edges }: Graph): string {
  const keys = [
    ...NODE_ATTRIBUTES.map((attribute) => key("node", attribute)),
    ...EDGE_ATTRIBUTES.map((attribute) => key("edge", attribute)),
  ];
  const lines = [
    `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">`,
    ...keys.map((line) => `  ${line}`),
    `  <key id="graph_name" for="graph" attr.name="name" attr.type="string"/>`,
    `  <graph id="G" edgedefault="directed">`,
    `    ${element("data", { key: "graph_name" }, escapeXml(name))}`,
    ...nodes.map((node) => `    ${element("node", { id: node.id }, data("node", NODE_ATTRIBUTES, node))}`),
    ...edges.map((edge) => {
      const { id, source, target } = edge;
      return `    ${element("edge", { id, source, target }, data("edge", EDGE_ATTRIBUTES, edge))}`;
    }),
    "  </graph>",
    "</graphml>",
  ];
  return `${XML_HEAD}${lines.join("\n")}\n`;
}

function key<T>(of: string, { name, type }: Attribute<T>): string {
  return element("key", { id: `${of}_${name}`, for: of, "attr.name": name, "attr.type": type });
}

function data<T>(of: string, attributes: readonly Attribute<T>[], item: T): string {
  return attributes
    .map(({ name, read }) => `<data key="${of}_${name}">${escapeXml(String(read(item)))}</data>`)
    .join("");
}

/** Returns GEXF 1.2. The graph is marked as directed, like GraphML. */
export function toGexf({ name, nodes, edges }: Graph): string {
  const lines = [
    `<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">`,
    `  ${element("meta", {}, element("description", {}, escapeXml(name)))}`,
    `  <graph mode="static" defaultedgetype="directed">`,
    `    ${element("attributes", { class: "node" }, declarations(NODE_ATTRIBUTES))}`,
    `    ${element("attributes", { class: "edge" }, declarations(EDGE_ATTRIBUTES))}`,
    "    <nodes>",
    ...nodes.map((node) => {
      const values = element("attvalues", {}, gexfValues(NODE_ATTRIBUTES, node));
      return `      ${element("node", { id: node.id, label: node.name }, values)}`;
    }),
    "    </nodes>",
    "    <edges>",
    ...edges.map((edge) => {
      const { id, source, target, label } = edge;
      const values = element("attvalues", {}, gexfValues(EDGE_ATTRIBUTES, edge));
      return `      ${element("edge", { id, source, target, label: label || undefined }, values)}`;
    }),
    "    </edges>",
    "  </graph>",
    "</gexf>",
  ];
  return `${XML_HEAD}${lines.join("\n")}\n`;
}

function declarations<T>(attributes: readonly Attribute<T>[]): string {
  return attributes
    .map(({ name, type }) => element("attribute", { id: name, title: name, type: type === "int" ? "integer" : type }))
    .join("");
}

function gexfValues<T>(attributes: readonly Attribute<T>[], item: T): string {
  return attributes.map(({ name, read }) => element("attvalue", { for: name, value: read(item) })).join("");
}

/** Returns Graphviz DOT. Undirected edges have no arrow head. */
export function toDot({ name, nodes, edges }: Graph): string {
  const lines = [
    ...nodes.map((node) => {
      const label = node.dimensions === "" ? node.name : `${node.name}\n[${node.dimensions}]`;
      return `  ${dotText(node.id)} [label=${dotText(label)}${node.declared ? "" : ", style=dashed"}];`;
    }),
    ...edges.map((edge) => {
      const label = edgeLabel(edge);
      const attributes = [...(edge.directed ? [] : ["dir=none"]), ...(label === "" ? [] : [`label=${dotText(label)}`])];
      const suffix = attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`;
      return `  ${dotText(edge.source)} -> ${dotText(edge.target)}${suffix};`;
    }),
  ];
  return `digraph ${dotText(name)} {\n${lines.join("\n")}\n}\n`;
}

function dotText(text: string): string {
  return `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`)}"`;
}

/** Returns a Mermaid flow chart. Node ids are numbers, because names may be Mermaid keywords. */
export function toMermaid({ nodes, edges }: Graph): string {
  const ids = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const lines = [
    ...nodes.map(({ id, name, dimensions }) => {
      const label = dimensions === "" ? name : `${name}[${dimensions}]`;
      return `  ${ids.get(id)!}["${mermaidText(label)}"]`;
    }),
    ...edges.map((edge) => {
      const label = edgeLabel(edge);
      const arrow = edge.directed ? "-->" : "---";
      const middle = label === "" ? arrow : `${arrow}|"${mermaidText(label)}"|`;
      return `  ${ids.get(edge.source)!} ${middle} ${ids.get(edge.target)!}`;
    }),
  ];
  return `flowchart TD\n${lines.join("\n")}\n`;
}

function mermaidText(text: string): string {
  return text.replaceAll(/["#&<>\n\r]/g, (character) => `#${character.charCodeAt(0)};`);
}

function edgeLabel({ label, constraint, sourceShift, targetShift }: GraphEdge): string {
  const shift = targetShift || sourceShift;
  return [label, constraint, shift === 0 ? "" : `t${shift > 0 ? "+" : ""}${shift}`]
    .filter((part) => part !== "")
    .join(" ");
}

function neighbour({ id, target, directed, label, constraint, sourceShift, targetShift, comment }: GraphEdge): object {
  return { id: target, key: id, directed, label, constraint, sourceShift, targetShift, comment };
}

/** Returns adjacency data as NetworkX's `adjacency_graph` reads it. */
export function toAdjacencyList({ name, nodes, edges }: Graph): string {
  const outgoing = new Map<string, GraphEdge[]>(nodes.map(({ id }) => [id, []]));
  for (const edge of edges) outgoing.get(edge.source)!.push(edge);
  const adjacency = nodes.map(({ id }) => outgoing.get(id)!.map(neighbour));
  const graph = { directed: true, multigraph: true, graph: [["name", name]], nodes, adjacency };
  return `${JSON.stringify(graph, undefined, 2)}\n`;
}
