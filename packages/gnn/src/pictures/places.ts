import type { Box, GraphLayout, Connector, Point } from "./geometry.ts";

type Lines = GraphLayout["lines"];

/** Returns straight lines between boxes with known centres, from border to border. */
export function straightLines(
  boxes: readonly Box[],
  lines: readonly Connector[],
  places: ReadonlyMap<string, Point>,
): Lines {
  const sizes = new Map(boxes.map((box) => [box.id, box]));
  return new Map(
    lines.map(({ id, from, to, label }) => {
      const [a, b] = [places.get(from)!, places.get(to)!];
      const curve =
        from === to ? loopAt(a, sizes.get(from)!) : lineBetween(rim(a, b, sizes.get(from)!), rim(b, a, sizes.get(to)!));
      const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
      return [id, { curve, ...(label ? { label: middle } : {}) }];
    }),
  );
}

/** Returns the point at which the line to another centre crosses the border of a box. */
function rim(from: Point, to: Point, { width, height }: Box): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const part = Math.min(1, width / 2 / (Math.abs(dx) || 1e-9), height / 2 / (Math.abs(dy) || 1e-9));
  return { x: from.x + dx * part, y: from.y + dy * part };
}

function lineBetween(from: Point, to: Point): Point[] {
  const at = (part: number): Point => ({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
  return [from, at(1 / 3), at(2 / 3), to];
}

function loopAt({ x, y }: Point, { width, height }: Box): Point[] {
  const right = x + width / 2;
  return [
    { x: right, y: y - height / 4 },
    { x: right + 24, y: y - height / 2 },
    { x: right + 24, y: y + height / 2 },
    { x: right, y: y + height / 4 },
  ];
}
