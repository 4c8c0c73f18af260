export interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** Boxes of one group lie together. */
  readonly group?: string;
}

export interface Connector {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly directed: boolean;
  /** Size of its label; none has none. */
  readonly label?: { readonly width: number; readonly height: number };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** Middles, by id. */
  readonly boxes: ReadonlyMap<string, Point>;
  /** A Bézier curve each: its beginning, then three points for each piece. */
  readonly lines: ReadonlyMap<string, { readonly curve: readonly Point[]; readonly label?: Point }>;
  readonly groups: ReadonlyMap<string, { readonly from: Point; readonly to: Point }>;
}

/** Room above the boxes of a group. */
export const GROUP_TITLE = { width: 136, height: 24 } as const;
