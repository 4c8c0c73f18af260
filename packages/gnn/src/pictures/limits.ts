/** Limits of one picture. */
export const PICTURE_LIMITS = {
  /** Maximum number of variables in a graph. Larger graphs are unreadable and slow to lay out. */
  nodes: 400,
  edges: 1200,
  /**
   * Maximum number of rows and of columns of a matrix that are drawn; only the first ones of a longer matrix are drawn.
   */
  cells: 64,
  /** Maximum number of matrices, and of slices of each tensor along its further dimensions. */
  matrices: 40,
  slices: 16,
  /**
   * Maximum number of cells of all matrices in a picture. A value above the limit is not drawn, and the picture
   * mentions it.
   */
  allCells: 65_536,
  /** Maximum width and height of a PNG in pixels. It is painted at double resolution if that fits. */
  pixels: 4500,
} as const;
