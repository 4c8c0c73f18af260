import type { Box, GraphLayout, Connector, Point } from "./geometry.ts";
import { straightLines } from "./places.ts";

/** Maximum ratio of a picture's width to its height. */
export const WIDEST = 2.4;
const WANTED = 1.5;
const GAP = { x: 14, row: 22, rank: 46 } as const;

/**
 * Narrows a layout that is too wide: moves ranks closer together, and wraps boxes of a rank into further rows. Keeps
 * the order of boxes, so that the number of crossing lines stays about the same.
 */
export function fold(
  { width, height, boxes: places }: GraphLayout,
  boxes: readonly Box[],
  lines: readonly Connector[],
): GraphLayout {
  const factor = Math.max(2, Math.sqrt(width / height / WANTED));
  const folded = new Map<string, Point>();
  let [top, right] = [0, 0];
  for (const rank of ranksOf(boxes, places)) {
    const rows = rowsOf(rank.map((box) => ({ box, x: places.get(box.id)!.x / factor })));
    for (const row of rows) {
      const high = Math.max(...row.map(({ box }) => box.height));
      for (const { box, x } of row) {
        folded.set(box.id, { x, y: top + high / 2 });
        right = Math.max(right, x + box.width / 2);
      }
      top += high + GAP.row;
    }
    top += GAP.rank - GAP.row;
  }
  const left = Math.min(...boxes.map(({ id, width: wide }) => folded.get(id)!.x - wide / 2));
  const moved = new Map(Array.from(folded, ([id, { x, y }]) => [id, { x: x - left, y }]));
  return {
    width: right - left,
    height: top - GAP.rank,
    boxes: moved,
    lines: straightLines(boxes, lines, moved),
    groups: new Map(),
  };
}

/** Returns the boxes of each rank, from left to right. A rank contains the boxes at the same height. */
function ranksOf(boxes: readonly Box[], places: ReadonlyMap<string, Point>): Box[][] {
  const ranks = new Map<number, Box[]>();
  for (const box of boxes) {
    const y = Math.round(places.get(box.id)!.y);
    const rank = ranks.get(y);
    if (rank) rank.push(box);
    else ranks.set(y, [box]);
  }
  return Array.from(ranks)
    .toSorted(([one], [other]) => one - other)
    .map(([, rank]) => rank.toSorted((one, other) => places.get(one.id)!.x - places.get(other.id)!.x));
}

interface PlacedBox {
  readonly box: Box;
  readonly x: number;
}

/** Puts each box into the first row that has room for it. */
function rowsOf(rank: readonly PlacedBox[]): PlacedBox[][] {
  const rows: PlacedBox[][] = [];
  for (const placed of rank) {
    const row = rows.find((one) => {
      const last = one.at(-1)!;
      return placed.x - placed.box.width / 2 >= last.x + last.box.width / 2 + GAP.x;
    });
    if (row) row.push(placed);
    else rows.push([placed]);
  }
  return rows;
}
