import type { Graph, GraphEdge, GraphNode } from "../exports/graph.ts";
import { element, escapeXml } from "../exports/xml-text.ts";
import type { Box, GraphLayout, Connector, Point } from "./geometry.ts";
import { layOut } from "./layout.ts";
import { PICTURE_LIMITS } from "./limits.ts";
import { PictureError } from "./picture-error.ts";
import { ROLES, roleOf, type RoleName } from "./roles.ts";
import { fixed, shortened, svgText, textWidth, toSvg, type Drawing } from "./svg.ts";
import type { Theme } from "./theme.ts";

const MARGIN = 24;
const NAME_SIZE = 15;
const SMALL = 11;
const TITLE_SIZE = 17;
const MAX_NAME = 28;
const LEGEND_STEP = 18;

export interface GraphPictureOptions {
  /** True if variables of one role are placed together, below its title. */
  readonly byRole: boolean;
  readonly theme: Theme;
}

interface Shape extends Box {
  readonly node: GraphNode;
  readonly role: RoleName;
  readonly name: string;
  readonly dimensions: string;
}

/** Draws a model's variables and connections. Factors are boxes, other variables have round ends. */
export async function drawGraph(graph: Graph, options: GraphPictureOptions): Promise<string> {
  assertDrawable(graph);
  const shapes = graph.nodes.map((node) => toShape(node, options));
  const labels = new Map(graph.edges.map((edge) => [edge.id, labelOf(edge)]));
  const layout = await layOut(
    shapes,
    graph.edges.map((edge) => toLine(edge, labels.get(edge.id)!)),
  );
  const used = Object.keys(ROLES).filter((role) => shapes.some((shape) => shape.role === role)) as RoleName[];
  return toSvg(compose({ graph, shapes, layout, labels, used }, options), options.theme);
}

function assertDrawable({ name, nodes, edges }: Graph): void {
  const { nodes: mostNodes, edges: mostEdges } = PICTURE_LIMITS;
  if (nodes.length === 0)
    throw new PictureError(`${name} declares no variable and no connection, so there is no graph. Draw its matrices.`);
  if (nodes.length <= mostNodes && edges.length <= mostEdges) return;
  throw new PictureError(
    `The graph of ${name} has ${nodes.length} variables and ${edges.length} edges; at most ${mostNodes} and ` +
      `${mostEdges} can be drawn. Draw its models one by one, or export it to GraphML or DOT for another program.`,
  );
}

function toShape(node: GraphNode, { byRole }: GraphPictureOptions): Shape {
  const role = roleOf(node);
  const name = shortened(node.id, MAX_NAME);
  const dimensions = node.declared ? shortened(node.dimensions.replaceAll(",", " × "), MAX_NAME) : "not declared";
  const wide = Math.max(textWidth(name, NAME_SIZE), textWidth(dimensions, SMALL));
  const padding = ROLES[role].isFactor ? 22 : 32;
  return {
    id: node.id,
    width: Math.max(54, wide + padding),
    height: dimensions === "" ? 34 : 46,
    ...(byRole ? { group: role } : {}),
    node,
    role,
    name,
    dimensions,
  };
}

function labelOf({ label, constraint, sourceShift, targetShift }: GraphEdge): string {
  const shift = (steps: number): string => (steps === 0 ? "" : `t${steps > 0 ? "+" : "−"}${Math.abs(steps)}`);
  const parts = [shift(sourceShift), label, constraint === "" ? "" : `= ${constraint}`, shift(targetShift)];
  return shortened(parts.filter((part) => part !== "").join("  "), MAX_NAME);
}

function toLine({ id, source, target, directed }: GraphEdge, label: string): Connector {
  const size = { width: textWidth(label, SMALL) + 8, height: SMALL + 6 };
  return { id, from: source, to: target, directed, ...(label === "" ? {} : { label: size }) };
}

interface PictureParts {
  readonly graph: Graph;
  readonly shapes: readonly Shape[];
  readonly layout: GraphLayout;
  readonly labels: ReadonlyMap<string, string>;
  readonly used: readonly RoleName[];
}

function compose(
  { graph, shapes, layout, labels, used }: PictureParts,
  { theme, byRole }: GraphPictureOptions,
): Drawing {
  const title = shortened(graph.name, 80);
  const titleWidth = textWidth(title, TITLE_SIZE) * 1.12;
  const legend = byRole ? { rows: [], width: 0 } : legendOf(used, theme, Math.max(layout.width, titleWidth, 320));
  const top = MARGIN + TITLE_SIZE + 20;
  const width = Math.max(layout.width, titleWidth, legend.width) + 2 * MARGIN;
  const left = (width - layout.width) / 2;
  const move = ({ x, y }: Point): Point => ({ x: x + left, y: y + top });
  const legendTop = top + layout.height + 26;
  return {
    title,
    width,
    height: legendTop + legend.rows.length * LEGEND_STEP + (byRole ? 0 : MARGIN / 2),
    body: [
      svgText(title, { x: width / 2, y: MARGIN + TITLE_SIZE - 4, size: TITLE_SIZE, fill: theme.text, isBold: true }),
      ...Array.from(layout.groups, ([role, { from, to }]) =>
        drawGroup(role as RoleName, [move(from), move(to)], theme),
      ),
      ...graph.edges.map((edge) => drawEdge(edge, layout, { move, theme })),
      ...Array.from(layout.groups, ([role, { from }]) => drawGroupTitle(role as RoleName, move(from), theme)),
      // Labels are drawn before the shapes, so that no label hides a name.
      ...graph.edges.map((edge) => drawLabel(labels.get(edge.id)!, layout.lines.get(edge.id)?.label, { move, theme })),
      ...shapes.map((shape) => drawShape(shape, move(layout.boxes.get(shape.id)!), theme)),
      ...legend.rows.map((row, at) =>
        element("g", { transform: `translate(${MARGIN} ${fixed(legendTop + at * LEGEND_STEP)})` }, row),
      ),
    ].filter((part) => part !== ""),
  };
}

interface DrawContext {
  readonly move: (point: Point) => Point;
  readonly theme: Theme;
}

function drawGroup(role: RoleName, [from, to]: readonly [Point, Point], theme: Theme): string {
  const box = { x: fixed(from.x), y: fixed(from.y), width: fixed(to.x - from.x), height: fixed(to.y - from.y) };
  return element("rect", { ...box, rx: 8, fill: theme.group, stroke: theme.stroke[role], "stroke-opacity": 0.5 });
}

/** Draws a group's title above the lines, which may cross it. */
function drawGroupTitle(role: RoleName, from: Point, theme: Theme): string {
  const { title } = ROLES[role];
  const back = { x: fixed(from.x + 7), y: fixed(from.y + 6), width: fixed(textWidth(title, SMALL) + 6), height: 15 };
  const text = { x: from.x + 10, y: from.y + 17, size: SMALL, fill: theme.quiet, anchor: "start" } as const;
  return element("rect", { ...back, fill: theme.group }) + svgText(title, text);
}

function drawEdge({ id, directed }: GraphEdge, layout: GraphLayout, { move, theme }: DrawContext): string {
  const curve = layout.lines.get(id)?.curve.map(move);
  if (!curve || curve.length < 4) return "";
  const at = ({ x, y }: Point): string => `${fixed(x)} ${fixed(y)}`;
  const pieces = curve.slice(1).map((point, index) => (index % 3 === 0 ? `C${at(point)}` : at(point)));
  const path = element("path", {
    d: `M${at(curve[0]!)}${pieces.join(" ")}`,
    fill: "none",
    stroke: theme.line,
    "stroke-width": 1.4,
    "stroke-opacity": layout.lines.size > MANY_LINES ? 0.55 : undefined,
  });
  return directed ? path + drawHead(curve.at(-4)!, curve.at(-1)!, theme) : path;
}

/** If there are more lines than this, they are drawn behind the shapes, because they cross too often. */
const MANY_LINES = 80;
const HEAD = 8;

function drawHead(from: Point, to: Point, theme: Theme): string {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [dx, dy] = [((to.x - from.x) / length) * HEAD, ((to.y - from.y) / length) * HEAD];
  const corner = (side: number): string =>
    `${fixed(to.x - dx - dy * 0.45 * side)} ${fixed(to.y - dy + dx * 0.45 * side)}`;
  return element("path", { d: `M${fixed(to.x)} ${fixed(to.y)}L${corner(1)}L${corner(-1)}Z`, fill: theme.line });
}

function drawShape({ node, role, name, dimensions, ...box }: Shape, { x, y }: Point, theme: Theme): string {
  const { width, height } = box;
  const outline = {
    x: fixed(x - width / 2),
    y: fixed(y - height / 2),
    width: fixed(width),
    height,
    rx: ROLES[role].isFactor ? 3 : height / 2,
    fill: theme.fill[role],
    stroke: theme.stroke[role],
    "stroke-width": 1.5,
    "stroke-dasharray": node.declared ? undefined : "4 3",
  };
  const told = [`${node.name}${node.dimensions === "" ? "" : `[${node.dimensions}]`}`, node.ontology, node.comment];
  const title = element("title", {}, escapeXml(told.filter((part) => part !== "").join(" · ")));
  const nameText = svgText(name, { x, y: y + (dimensions === "" ? 5 : -2), size: NAME_SIZE, fill: theme.text });
  const small = dimensions === "" ? "" : svgText(dimensions, { x, y: y + 15, size: SMALL, fill: theme.quiet });
  return element("g", {}, title + element("rect", outline) + nameText + small);
}

function drawLabel(label: string, place: Point | undefined, { move, theme }: DrawContext): string {
  if (label === "" || !place) return "";
  const { x, y } = move(place);
  const width = textWidth(label, SMALL) + 6;
  const back = { x: fixed(x - width / 2), y: fixed(y - 8), width: fixed(width), height: 16, fill: theme.background };
  return element("rect", back) + svgText(label, { x, y: y + 4, size: SMALL, fill: theme.text });
}

function legendOf(used: readonly RoleName[], theme: Theme, most: number): { rows: string[]; width: number } {
  const rows: string[] = [];
  let [x, widest] = [0, 0];
  for (const role of used) {
    const { title, isFactor } = ROLES[role];
    const wide = 30 + textWidth(title, SMALL);
    if (x > 0 && x + wide > most) x = 0;
    if (x === 0) rows.push("");
    const sign = { x: fixed(x), y: -9, width: 14, height: 11, rx: isFactor ? 2 : 5.5 };
    rows[rows.length - 1] +=
      element("rect", { ...sign, fill: theme.fill[role], stroke: theme.stroke[role] }) +
      svgText(title, { x: x + 20, y: 1, size: SMALL, fill: theme.quiet, anchor: "start" });
    x += wide + 8;
    widest = Math.max(widest, x);
  }
  return { rows, width: widest };
}
