import { GROUP_TITLE, type Box, type GraphLayout, type Connector, type Point } from "./geometry.ts";
import { straightLines } from "./places.ts";

const GAP = 16;
const PADDING = 14;
const BETWEEN = 40;

interface GroupBlock {
  readonly group: string;
  readonly width: number;
  readonly height: number;
  readonly places: readonly (readonly [id: string, place: Point])[];
}

/**
 * Lays out each group as a block of rows, and the blocks side by side: for groups that are too large for a layered
 * layout.
 */
export function inBlocks(boxes: readonly Box[], lines: readonly Connector[]): GraphLayout {
  const groups = [...new Set(boxes.map(({ group }) => group ?? ""))];
  const blocks = groups.map((group) =>
    toBlock(
      group,
      boxes.filter((box) => (box.group ?? "") === group),
    ),
  );
  const area = blocks.reduce((sum, { width, height }) => sum + (width + BETWEEN) * (height + BETWEEN), 0);
  const most = Math.max(Math.sqrt(area * 1.6), ...blocks.map(({ width }) => width));
  const places = new Map<string, Point>();
  const rims = new Map<string, { from: Point; to: Point }>();
  let [x, y, high, widest] = [0, 0, 0, 0];
  for (const { group, width, height, places: own } of blocks.toSorted((one, other) => other.height - one.height)) {
    if (x > 0 && x + width > most) [x, y, high] = [0, y + high + BETWEEN, 0];
    for (const [id, at] of own) places.set(id, { x: x + at.x, y: y + at.y });
    rims.set(group, { from: { x, y }, to: { x: x + width, y: y + height } });
    widest = Math.max(widest, x + width);
    high = Math.max(high, height);
    x += width + BETWEEN;
  }
  return {
    width: widest,
    height: y + high,
    boxes: places,
    lines: straightLines(boxes, lines, places),
    groups: rims,
  };
}

function toBlock(group: string, boxes: readonly Box[]): GroupBlock {
  const columns = Math.ceil(Math.sqrt(boxes.length));
  const cell = {
    width: Math.max(...boxes.map(({ width }) => width)) + GAP,
    height: Math.max(...boxes.map(({ height }) => height)) + GAP,
  };
  const rows = Math.ceil(boxes.length / columns);
  const places = boxes.map(({ id }, at): [string, Point] => [
    id,
    {
      x: PADDING + ((at % columns) + 0.5) * cell.width,
      y: GROUP_TITLE.height + (Math.floor(at / columns) + 0.5) * cell.height,
    },
  ]);
  const wide = Math.max(columns * cell.width, GROUP_TITLE.width);
  return { group, width: wide + 2 * PADDING, height: rows * cell.height + GROUP_TITLE.height + PADDING, places };
}
