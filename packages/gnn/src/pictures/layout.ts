import type * as hpcc from "@hpcc-js/wasm-graphviz";
import { importExtra } from "toolyard/extras";
import { inBlocks } from "./blocks.ts";
import { fold, WIDEST } from "./fold.ts";
import { GROUP_TITLE, type Box, type GraphLayout, type Connector, type Point } from "./geometry.ts";
import { PictureError } from "./picture-error.ts";

/** Lays out boxes and lines so that lines point down and rarely cross. Rejects with a `PictureError`. */
export async function layOut(boxes: readonly Box[], lines: readonly Connector[]): Promise<GraphLayout> {
  const graphviz = await (await loadGraphviz()).load();
  const json = graphviz.layout(toDot(boxes, lines), "json", "dot");
  const layout = read(JSON.parse(json) as GraphvizJson, boxes, lines);
  if (layout.width <= layout.height * WIDEST || layout.width < WIDE_ENOUGH) return layout;
  return layout.groups.size > 0 ? inBlocks(boxes, lines) : fold(layout, boxes, lines);
}

async function loadGraphviz(): Promise<typeof hpcc.Graphviz> {
  try {
    const purpose = "laying out a graph";
    return (await importExtra<typeof hpcc>("pictures", "@hpcc-js/wasm-graphviz", { purpose })).Graphviz;
  } catch (error) {
    throw new PictureError((error as Error).message, { cause: error });
  }
}

const INCH = 72;
/** Width up to which a picture is not narrowed, in pixels. */
const WIDE_ENOUGH = 1200;

/** Returns DOT in which all names are generated, so that no text of a model is read as DOT. */
function toDot(boxes: readonly Box[], lines: readonly Connector[]): string {
  const index = new Map(boxes.map(({ id }, at) => [id, at]));
  const box = ({ width, height }: Box, at: number): string =>
    `b${at} [width=${(width / INCH).toFixed(3)},height=${(height / INCH).toFixed(3)}];`;
  const groups = [...new Set(boxes.flatMap(({ group }) => group ?? []))];
  const clusters = groups.map((group, at) => {
    const members = boxes.flatMap((one, own) => (one.group === group ? box(one, own) : []));
    return `subgraph cluster_${at} { label=${sizedLabel(GROUP_TITLE)}; labeljust=l; ${members.join(" ")} }`;
  });
  const free = boxes.flatMap((one, at) => (one.group === undefined ? box(one, at) : []));
  const edges = lines.map(({ from, to, label }, at) => {
    const size = label && `,label=${sizedLabel(label)}`;
    return `b${index.get(from)} -> b${index.get(to)} [id="l${at}"${size ?? ""}];`;
  });
  const margin = groups.length > 0 ? "graph [margin=12];" : "";
  return (
    `digraph { rankdir=TB; nodesep=0.32; ranksep=0.5; ${margin} node [shape=box,fixedsize=true,label=""]; ` +
    `edge [arrowsize=0.7]; ${clusters.join(" ")} ${free.join(" ")} ${edges.join(" ")} }`
  );
}

function sizedLabel({ width, height }: { readonly width: number; readonly height: number }): string {
  const size = `WIDTH="${Math.ceil(width)}" HEIGHT="${Math.ceil(height)}"`;
  return `<<TABLE FIXEDSIZE="TRUE" BORDER="0" ${size}><TR><TD></TD></TR></TABLE>>`;
}

interface GraphvizJson {
  readonly bb: string;
  readonly objects?: readonly { readonly name: string; readonly pos?: string; readonly bb?: string }[];
  readonly edges?: readonly { readonly id: string; readonly pos: string; readonly lp?: string }[];
}

function read(
  { bb, objects = [], edges = [] }: GraphvizJson,
  boxes: readonly Box[],
  lines: readonly Connector[],
): GraphLayout {
  const [, , width = 0, height = 0] = numbers(bb);
  const point = ([x = 0, y = 0]: readonly number[]): Point => ({ x, y: height - y });
  const groupNames = [...new Set(boxes.flatMap(({ group }) => group ?? []))];
  const placed = new Map<string, Point>();
  const groups = new Map<string, { from: Point; to: Point }>();
  for (const { name, pos, bb: own } of objects) {
    const at = Number(/(?<!\d)\d+$/.exec(name)?.[0]);
    if (pos !== undefined) placed.set(boxes[at]!.id, point(numbers(pos)));
    else if (own !== undefined) {
      const [left, bottom, right, top] = numbers(own);
      groups.set(groupNames[at]!, { from: point([left!, top!]), to: point([right!, bottom!]) });
    }
  }
  const drawn = edges.map(({ id, pos, lp }) => {
    const { id: own } = lines[Number(id.slice(1))]!;
    return [
      own,
      { curve: curveOf(pos).map(point), ...(lp === undefined ? {} : { label: point(numbers(lp)) }) },
    ] as const;
  });
  return { width, height, boxes: placed, lines: new Map(drawn), groups };
}

/** Parses the points of a curve. `e,x,y` is the tip of the arrow, which follows the last point. */
function curveOf(pos: string): number[][] {
  const words = pos.split(" ");
  const head = words.find((word) => word.startsWith("e,"));
  const curve = words.filter((word) => !/^[es],/.test(word)).map(numbers);
  return head === undefined ? curve : [...curve, ...straight(curve.at(-1)!, numbers(head.slice(2)))];
}

function straight(from: readonly number[], to: readonly number[]): number[][] {
  const between = (part: number): number[] => from.map((value, at) => value + (to[at]! - value) * part);
  return [between(1 / 3), between(2 / 3), [...to]];
}

function numbers(text: string): number[] {
  return text.split(",").map(Number);
}
