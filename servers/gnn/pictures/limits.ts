/** Bounds of one picture. */
export const PICTURE_LIMITS = {
  /** Variables of a graph: beyond, nobody reads it, and laying it out takes long. */
  nodes: 400,
  edges: 1200,
  /** Rows and columns of one matrix that are drawn; of a longer one its first. */
  cells: 64,
  /** Matrices, and slices of each along its further dimensions. */
  matrices: 40,
  slices: 16,
  /** Cells of all matrices of a picture; a value that goes beyond is not drawn, which the picture says. */
  allCells: 65_536,
  /** Width and height of a PNG, which is painted twice as fine where it fits in. */
  pixels: 4500,
} as const;
