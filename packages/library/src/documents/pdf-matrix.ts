/** Transforms a point: x' = a x + c y + e, y' = b x + d y + f. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

export interface Box {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** Returns the transformation that applies the second matrix first. */
export function times([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

export function pointOf([a, b, c, d, e, f]: Matrix, x: number, y: number): Point {
  return { x: a * x + c * y + e, y: b * x + d * y + f };
}

/** Returns the smallest box that contains all points. */
export function boxOf(points: readonly Point[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return { left: Math.min(...xs), bottom: Math.min(...ys), right: Math.max(...xs), top: Math.max(...ys) };
}

/** Returns the box of a transformed rectangle; a unit square if none is given. */
export function placedBox(matrix: Matrix, { left, bottom, right, top }: Box = UNIT): Box {
  return boxOf([
    pointOf(matrix, left, bottom),
    pointOf(matrix, right, bottom),
    pointOf(matrix, right, top),
    pointOf(matrix, left, top),
  ]);
}

const UNIT: Box = { left: 0, bottom: 0, right: 1, top: 1 };

export function common(one: Box, other: Box): Box {
  return {
    left: Math.max(one.left, other.left),
    bottom: Math.max(one.bottom, other.bottom),
    right: Math.min(one.right, other.right),
    top: Math.min(one.top, other.top),
  };
}

export function contains({ left, bottom, right, top }: Box, { x, y }: Point): boolean {
  return x >= left && x <= right && y >= bottom && y <= top;
}
