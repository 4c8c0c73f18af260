/** Bounds of one picture. */
export const PICTURE_LIMITS = {
  /** Variables of a graph. Larger pictures are unreadable and slow to lay out. */
  nodes: 400,
  edges: 1200,
  /** Rows and columns of one matrix that are drawn; of a longer one its first. */
  cells: 64,
  /** Matrices, and slices of each along its further dimensions. */
  matrices: 40,
  slices: 16,
  /** Cells of all matrices of a picture. A value above the limit is not drawn, and the picture mentions it. */
  allCells: 65_536,
  /** Width and height of a PNG, which is painted twice as fine where it fits in. */
  pixels: 4500,
} as const;
