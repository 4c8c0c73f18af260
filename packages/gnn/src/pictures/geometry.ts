export interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** Group of the box. Boxes of one group are placed together. */
  readonly group?: string;
}

export interface Connector {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly directed: boolean;
  /** Size of the label; absent if the line has no label. */
  readonly label?: { readonly width: number; readonly height: number };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** Centres of the boxes, by id. */
  readonly boxes: ReadonlyMap<string, Point>;
  /** Bézier curves of the lines: the start, then three points for each segment. */
  readonly lines: ReadonlyMap<string, { readonly curve: readonly Point[]; readonly label?: Point }>;
  readonly groups: ReadonlyMap<string, { readonly from: Point; readonly to: Point }>;
}

/** Space above the boxes of a group. */
export const GROUP_TITLE = { width: 136, height: 24 } as const;
