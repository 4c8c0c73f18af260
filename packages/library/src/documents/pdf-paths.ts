import { boxOf, pointOf, type Box, type Matrix, type Point } from "./pdf-matrix.ts";

/** Operators of a path in pdf.js, each followed by its coordinates. */
const MOVE = 0;
const LINE = 1;
const CLOSE = 4;
/** Maximum number of rectangles of one path that are distinguished. */
const MAX_RECTANGLES = 500;
/** Maximum deviation of a rectangle's side, in points. */
const TOLERANCE = 0.05;

/** Area of a path on the page. */
export interface PathArea {
  /** The boxes that the path consists of, or the box around it. */
  readonly boxes: readonly Box[];
  /** True if the path consists of upright rectangles, so that the boxes are exactly its area. */
  readonly isExact: boolean;
}

/** Returns the area of a path of pdf.js: `data` are operators and coordinates, `bounds` the box around them. */
export function areaOf(data: ArrayLike<number> | undefined, bounds: ArrayLike<number>, matrix: Matrix): PathArea {
  const [left = 0, bottom = 0, right = 0, top = 0] = Array.from(bounds);
  const corners = [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
  ] as const;
  const outer = boxOf(corners.map(([x, y]) => pointOf(matrix, x, y)));
  const parts = data && linesOf(data);
  const boxes = parts?.map((points) => rectangleOf(points.map(({ x, y }) => pointOf(matrix, x, y))));
  if (boxes === undefined || boxes.length === 0) return { boxes: [outer], isExact: false };
  const whole = boxes.flatMap((box) => (box ? [box] : []));
  return whole.length === boxes.length ? { boxes: whole, isExact: true } : { boxes: [outer], isExact: false };
}

/** Returns the parts of a path that has only straight lines; undefined if it has curves or too many parts. */
function linesOf(data: ArrayLike<number>): Point[][] | undefined {
  const parts: Point[][] = [];
  for (let at = 0; at < data.length;) {
    const operator = data[at]!;
    if (operator === CLOSE) {
      at += 1;
      continue;
    }
    if ((operator !== MOVE && operator !== LINE) || parts.length > MAX_RECTANGLES) return undefined;
    if (operator === MOVE || parts.length === 0) parts.push([]);
    parts.at(-1)!.push({ x: data[at + 1]!, y: data[at + 2]! });
    at += 3;
  }
  return parts.filter((points) => points.length > 1);
}

function rectangleOf(points: readonly Point[]): Box | undefined {
  const [first, last] = [points[0]!, points.at(-1)!];
  const isClosed = points.length === 5 && near(first.x, last.x) && near(first.y, last.y);
  const corners = isClosed ? points.slice(0, 4) : points;
  if (corners.length !== 4) return undefined;
  const isUpright = corners.every((corner, at) => {
    const next = corners[(at + 1) % 4]!;
    return near(corner.x, next.x) !== near(corner.y, next.y);
  });
  return isUpright ? boxOf(corners) : undefined;
}

function near(one: number, other: number): boolean {
  return Math.abs(one - other) < TOLERANCE;
}
