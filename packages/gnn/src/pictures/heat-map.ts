import { readTensor } from "../checks/tensor.ts";
import { element } from "../exports/xml-text.ts";
import type { NamedModel } from "../language/choose-models.ts";
import { viewOf } from "../language/view.ts";
import { PICTURE_LIMITS } from "./limits.ts";
import { PictureError } from "./picture-error.ts";
import { Slicer, type Slice } from "./slices.ts";
import { fixed, shortened, svgText, textWidth, toSvg } from "./svg.ts";
import type { Rgb, Theme } from "./theme.ts";

const MARGIN = 24;
const GAP = 26;
const MAX_ROW = 1000;
const SIZE = 12;
const SMALL = 10;

/**
 * Draws the numbers of a model: a matrix as a heat map, a tensor as one heat map for each index of the first
 * dimensions.
 */
export function drawMatrices(models: readonly NamedModel[], theme: Theme): string {
  const { slices, left } = slicesOf(models);
  const names = models.map(({ label, model }) => viewOf(model).name ?? label);
  const name = names.length === 0 ? "GNN" : names.join(", ");
  if (slices.length === 0)
    throw new PictureError(
      `${shortened(name, 80)} has no values in InitialParameterization, so there is no matrix. Draw its graph.`,
    );
  const title = shortened(name, 80);
  const blocks = slices.map((slice) => drawSlice(slice, theme));
  const { parts, width, height } = inRows(blocks);
  const note = left === 0 ? "" : `${left} further ${left === 1 ? "value is" : "values are"} not drawn.`;
  const wide = Math.max(width, textWidth(title, 17) * 1.12, textWidth(note, SMALL)) + 2 * MARGIN;
  const heading = svgText(title, {
    x: MARGIN,
    y: MARGIN + 13,
    size: 17,
    fill: theme.text,
    anchor: "start",
    isBold: true,
  });
  const below = { x: MARGIN, y: MARGIN + 29, size: SMALL, fill: theme.quiet, anchor: "start" } as const;
  const body = [heading, ...(note === "" ? [] : [svgText(note, below)]), ...parts];
  return toSvg({ title, width: wide, height: height + MARGIN, body }, theme);
}

/** Returns the slices to draw, and the number of values that are omitted. */
function slicesOf(models: readonly NamedModel[]): { readonly slices: readonly Slice[]; readonly left: number } {
  const slices: Slice[] = [];
  let [left, cells] = [0, 0];
  for (const { label, model } of models) {
    let drawn = 0;
    const view = viewOf(model);
    const slicer = new Slicer(view);
    for (const { name, value } of view.values) {
      const reading = readTensor(value);
      if (reading.kind !== "tensor" || reading.tensor.data.length === 0) continue;
      const own = drawn < PICTURE_LIMITS.matrices ? slicer.slices(name.text, reading.tensor) : [];
      const size = own.reduce((sum, { rows }) => sum + rows.length * rows[0]!.length, 0);
      if (own.length > 0 && cells + size <= PICTURE_LIMITS.allCells) {
        slices.push(...(models.length === 1 ? own : own.map((slice) => ofModel(label, slice))));
        cells += size;
        drawn += 1;
      } else left += 1;
    }
  }
  return { slices, left };
}

function ofModel(label: string, slice: Slice): Slice {
  return { ...slice, title: shortened(`${label}: `, 28) + slice.title };
}

interface HeatMapBlock {
  readonly width: number;
  readonly height: number;
  readonly content: string;
}

/** Maximum number of columns of a matrix whose cells show numbers. */
const MAX_NUMBERED = 12;

function drawSlice({ title, note, rows }: Slice, theme: Theme): HeatMapBlock {
  const columns = rows[0]?.length ?? 0;
  const isNumbered = rows.length <= MAX_NUMBERED && columns <= MAX_NUMBERED;
  const texts = rows.map((row) => row.map((value) => (isNumbered ? numberText(value) : "")));
  const longest = Math.max(0, ...texts.flat().map((text) => textWidth(text, SIZE)));
  const cell = isNumbered ? { width: Math.max(34, longest + 10), height: 26 } : small(Math.max(rows.length, columns));
  const most = Math.max(...rows.flat().map(Math.abs), Number.MIN_VALUE);
  const cells = rows.flatMap((row, y) =>
    row.map((value, x) =>
      drawCell({ x: x * cell.width, y: 36 + y * cell.height, ...cell }, texts[y]![x]!, {
        theme,
        part: value / most,
      }),
    ),
  );
  const heading =
    svgText(title, { x: 0, y: 12, size: 14, fill: theme.text, anchor: "start", isBold: true }) +
    svgText(note, { x: 0, y: 27, size: SMALL, fill: theme.quiet, anchor: "start" });
  return {
    width: Math.max(columns * cell.width, textWidth(title, 14) * 1.12, textWidth(note, SMALL)),
    height: 36 + rows.length * cell.height,
    content: heading + cells.join(""),
  };
}

function small(longest: number): { readonly width: number; readonly height: number } {
  const side = Math.max(6, Math.min(18, Math.floor(400 / longest)));
  return { width: side, height: side };
}

interface CellBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function drawCell(
  box: CellBox,
  text: string,
  { theme, part }: { readonly theme: Theme; readonly part: number },
): string {
  const color = colorOf(part, theme);
  const place = { x: fixed(box.x), y: fixed(box.y), width: fixed(box.width), height: box.height };
  const rect = element("rect", { ...place, fill: toHex(color), stroke: theme.background });
  if (text === "") return rect;
  const fill = isLight(color) ? "#10151b" : "#ffffff";
  return rect + svgText(text, { x: box.x + box.width / 2, y: box.y + box.height / 2 + 4, size: SIZE, fill });
}

/**
 * Returns the colour of a number. `part` is the number divided by the largest absolute number of the matrix, from -1 to
 * 1.
 */
function colorOf(part: number, { scale }: Theme): Rgb {
  const end = part < 0 ? scale.low : scale.high;
  const mixed = scale.zero.map((zero, at) => Math.round(zero + (end[at]! - zero) * Math.min(1, Math.abs(part))));
  return mixed as unknown as Rgb;
}

function toHex(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function isLight([red, green, blue]: Rgb): boolean {
  return red * 0.299 + green * 0.587 + blue * 0.114 > 140;
}

function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  return size >= 0.001 && size < 1e4 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}

/** Places the blocks side by side, in rows. */
function inRows(blocks: readonly HeatMapBlock[]): {
  readonly parts: string[];
  readonly width: number;
  readonly height: number;
} {
  const parts: string[] = [];
  let [x, y, high, widest] = [0, MARGIN + 38, 0, 0];
  for (const { width, height, content } of blocks) {
    if (x > 0 && x + width > MAX_ROW) [x, y, high] = [0, y + high + GAP, 0];
    parts.push(element("g", { transform: `translate(${fixed(x + MARGIN)} ${fixed(y)})` }, content));
    x += width + GAP;
    high = Math.max(high, height);
    widest = Math.max(widest, x - GAP);
  }
  return { parts, width: widest, height: y + high };
}
