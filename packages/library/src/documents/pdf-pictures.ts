import { DocumentError } from "./document-error.ts";
import { IDENTITY, times, type Matrix } from "./pdf-matrix.ts";
import type { Operators } from "./pdf-paint.ts";
import type { PagePicture } from "./ocr/ocr.ts";

/** Members of a pdf.js page that this module uses. */
export interface PaintedPage {
  getViewport(options: { scale: number }): PageView;
  getOperatorList(): Promise<Operators>;
  readonly objs: PdfObjects;
  readonly commonObjs: PdfObjects;
  /** Left, bottom, right and top edge in the page's own coordinates. */
  readonly view: readonly number[];
}

export interface PageView {
  readonly width: number;
  readonly height: number;
  /** Transformation from the page's own coordinates to points as displayed, counted from the top. */
  readonly transform: readonly number[];
}

interface PdfObjects {
  get(id: string, then: (found: unknown) => void): void;
}

/** Image as pdf.js decodes it: one bit per pixel (`kind` 1), or the bytes of its colours. */
interface Raster {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
  readonly kind?: number;
}

interface PlacedRaster {
  readonly raster: Raster;
  /** Transforms a unit square with its origin at the bottom left. */
  readonly matrix: Matrix;
  /** Colour with which a mask is painted. */
  readonly ink?: readonly [number, number, number];
}

export interface SharedPicture extends PagePicture {
  /** Share of the page that the image covers, from 0 to 1. */
  readonly share: number;
}

/** Maximum number of images that are read on one page. */
const MAX_PICTURES = 10_000;
const MAX_POINTS = 60_000_000;
const BLACK = [0, 0, 0] as const;

/** Operator numbers of pdf.js. */
const OPERATOR = {
  save: 10,
  restore: 11,
  transform: 12,
  fillColor: 59,
  formBegin: 74,
  formEnd: 75,
  mask: 83,
  maskGroup: 84,
  picture: 85,
  inline: 86,
  inlineGroup: 87,
  repeat: 88,
  maskRepeat: 89,
} as const;

const PAINTS: ReadonlySet<number> = new Set([83, 84, 85, 86, 87, 88, 89, 90]);
const WRITES: ReadonlySet<number> = new Set([44, 45, 46, 47]);

/** Returns whether the page shows a picture, even one of a single pixel, and whether it shows text. */
export async function contentsOf(page: PaintedPage): Promise<{ readonly picture: boolean; readonly text: boolean }> {
  const { fnArray } = await page.getOperatorList();
  return {
    picture: fnArray.some((operator) => PAINTS.has(operator)),
    text: fnArray.some((operator) => WRITES.has(operator)),
  };
}

/**
 * Renders the images of a page as displayed, on white: strips are joined, and the page's rotation is applied. Returns
 * undefined if the page has no image that can be decoded. Throws a `DocumentError`.
 */
export async function pictureOfPage(page: PaintedPage): Promise<SharedPicture | undefined> {
  const { transform, width, height } = page.getViewport({ scale: 1 });
  const placed = await new Walk(page, transform as unknown as Matrix).placed();
  const box = boundsOf(placed.map(({ matrix }) => matrix));
  const [left, top] = [Math.max(0, box.left), Math.max(0, box.top)];
  const [wide, high] = [Math.min(width, box.right) - left, Math.min(height, box.bottom) - top];
  if (!(wide > 0 && high > 0)) return undefined;
  const scale = resolutionOf(placed);
  const [columns, rows] = [Math.max(1, Math.round(wide * scale)), Math.max(1, Math.round(high * scale))];
  if (columns * rows > MAX_POINTS)
    throw new DocumentError("TOO_LARGE", `The image of a page has more than ${MAX_POINTS} pixels.`);
  const canvas = { width: columns, height: rows, data: new Uint8ClampedArray(columns * rows * 4).fill(255) };
  const toCanvas: Matrix = [columns / wide, 0, 0, rows / high, (-left * columns) / wide, (-top * rows) / high];
  for (const one of placed) paint(canvas, one, times(toCanvas, one.matrix));
  return { ...canvas, share: (wide * high) / (width * height) };
}

/** Follows the drawing operators of a page, and records the position of each image. */
class Walk {
  readonly #page: PaintedPage;
  readonly #placed: PlacedRaster[] = [];
  readonly #kept: (readonly [Matrix, readonly [number, number, number]])[] = [];
  #matrix: Matrix;
  #ink: readonly [number, number, number] = BLACK;

  constructor(page: PaintedPage, matrix: Matrix) {
    this.#page = page;
    this.#matrix = matrix;
  }

  async placed(): Promise<readonly PlacedRaster[]> {
    const { fnArray, argsArray } = await this.#page.getOperatorList();
    for (const [at, operator] of fnArray.entries()) {
      if (this.#placed.length >= MAX_PICTURES) break;
      await this.#take(operator, argsArray[at] ?? []);
    }
    return this.#placed;
  }

  async #take(operator: number, parts: readonly unknown[]): Promise<void> {
    if (operator === OPERATOR.save) this.#save();
    else if (operator === OPERATOR.restore || operator === OPERATOR.formEnd) this.#restore();
    else if (operator === OPERATOR.transform) this.#turn(parts as readonly number[]);
    else if (operator === OPERATOR.formBegin) {
      this.#save();
      if (parts[0]) this.#turn(Array.from(parts[0] as ArrayLike<number>));
    } else if (operator === OPERATOR.fillColor) this.#ink = colorOf(parts[0]);
    else if (PAINTS.has(operator)) await this.#pictures(operator, parts);
  }

  #save(): void {
    this.#kept.push([this.#matrix, this.#ink]);
  }

  #restore(): void {
    [this.#matrix, this.#ink] = this.#kept.pop() ?? [this.#matrix, this.#ink];
  }

  #turn(by: readonly number[]): void {
    this.#matrix = times(this.#matrix, by as unknown as Matrix);
  }

  async #pictures(operator: number, [first, ...rest]: readonly unknown[]): Promise<void> {
    const isMask = operator === OPERATOR.mask || operator === OPERATOR.maskGroup || operator === OPERATOR.maskRepeat;
    if (operator === OPERATOR.maskGroup)
      for (const one of first as readonly { readonly transform: Matrix }[])
        this.#place(await this.#raster(one), [one.transform], true);
    else this.#place(await this.#raster(first), placesOf(operator, rest), isMask);
  }

  #place(raster: Raster | undefined, places: readonly Matrix[], isMask: boolean): void {
    if (!raster) return;
    const ink = isMask && { ink: this.#ink };
    for (const place of places.slice(0, MAX_PICTURES - this.#placed.length))
      this.#placed.push({ raster, matrix: times(this.#matrix, place), ...ink });
  }

  /**
   * Returns the image of a drawing operator, which is an object name, the image itself, or an image whose pixels have
   * an object name.
   */
  async #raster(given: unknown): Promise<Raster | undefined> {
    const own = typeof given === "string" ? await this.#object(given) : given;
    if (typeof own !== "object" || own === null) return undefined;
    const { data } = own as { readonly data?: unknown };
    const found = typeof data === "string" ? { ...own, ...((await this.#object(data)) as object) } : own;
    return isRaster(found) ? found : undefined;
  }

  #object(id: string): Promise<unknown> {
    const { objs, commonObjs } = this.#page;
    return new Promise((done) => (id.startsWith("g_") ? commonObjs : objs).get(id, done));
  }
}

/** Returns the positions at which an operator paints its image. */
function placesOf(operator: number, rest: readonly unknown[]): readonly Matrix[] {
  if (operator === OPERATOR.inlineGroup)
    return (rest[0] as readonly { readonly transform: Matrix }[]).map(({ transform }) => transform);
  if (operator === OPERATOR.repeat) {
    const [across, down, positions] = rest as [number, number, ArrayLike<number>];
    return pairsOf(positions).map(([x, y]): Matrix => [across, 0, 0, down, x, y]);
  }
  if (operator === OPERATOR.maskRepeat) {
    const [a, b, c, d, positions] = rest as [number, number, number, number, ArrayLike<number>];
    return pairsOf(positions).map(([x, y]): Matrix => [a, b, c, d, x, y]);
  }
  return [IDENTITY];
}

function pairsOf(numbers: ArrayLike<number>): (readonly [number, number])[] {
  return Array.from({ length: numbers.length >> 1 }, (_, at) => [numbers[at * 2]!, numbers[at * 2 + 1]!]);
}

function isRaster(found: object): found is Raster {
  const { width, height, data } = found as Partial<Raster>;
  return Number(width) > 0 && Number(height) > 0 && ArrayBuffer.isView(data) && data.length > 0;
}

/** Reads `#rrggbb`. Any other colour becomes black. */
function colorOf(color: unknown): readonly [number, number, number] {
  const value = /^#([\da-f]{6})$/i.exec(String(color))?.[1];
  if (value === undefined) return BLACK;
  return [0, 2, 4].map((at) => Number.parseInt(value.slice(at, at + 2), 16)) as [number, number, number];
}

function boundsOf(matrices: readonly Matrix[]) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const [a, b, c, d, e, f] of matrices)
    for (const [x, y] of [
      [e, f],
      [a + e, b + f],
      [c + e, d + f],
      [a + c + e, b + d + f],
    ] as const) {
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x);
      box.top = Math.min(box.top, y);
      box.bottom = Math.max(box.bottom, y);
    }
  return box;
}

/** Returns the resolution of the largest image, in pixels per point of the page. */
function resolutionOf(placed: readonly PlacedRaster[]): number {
  let [most, scale] = [0, 1];
  for (const { raster, matrix } of placed) {
    const area = areaOf(matrix);
    if (area > most) [most, scale] = [area, Math.sqrt((raster.width * raster.height) / area)];
  }
  return scale;
}

function areaOf([a, b, c, d]: Matrix): number {
  return Math.abs(a * d - b * c);
}

/** Copies an image to the canvas: each canvas pixel in its area receives the image pixel at that position. */
function paint(canvas: PagePicture, placed: PlacedRaster, [a, b, c, d, e, f]: Matrix): void {
  const turn = a * d - b * c;
  if (turn === 0) return;
  const { width, height } = placed.raster;
  const { left, top, right, bottom } = boundsOf([[a, b, c, d, e, f]]);
  const point = pointsOf(placed);
  const [lastX, lastY] = [Math.min(canvas.width, Math.ceil(right)), Math.min(canvas.height, Math.ceil(bottom))];
  for (let y = Math.max(0, Math.floor(top)); y < lastY; y += 1)
    for (let x = Math.max(0, Math.floor(left)); x < lastX; x += 1) {
      const [dx, dy] = [x + 0.5 - e, y + 0.5 - f];
      const column = Math.floor(((d * dx - c * dy) / turn) * width);
      // Rows of an image are counted from its top.
      const row = Math.floor((1 - (a * dy - b * dx) / turn) * height);
      if (column >= 0 && column < width && row >= 0 && row < height)
        point(row * width + column, canvas.data, (y * canvas.width + x) * 4);
    }
}

type PixelWriter = (from: number, data: Uint8ClampedArray, to: number) => void;

/** Returns the function that copies one pixel of an image to the canvas. */
function pointsOf({ raster: { width, height, data, kind }, ink }: PlacedRaster): PixelWriter {
  const rowBytes = (width + 7) >> 3;
  const bit = (from: number): number => {
    const column = from % width;
    return (data[((from - column) / width) * rowBytes + (column >> 3)]! >> (7 - (column & 7))) & 1;
  };
  // Bits of a mask that are 0 are painted.
  if (ink) return (from, to, at) => bit(from) === 0 && to.set(ink, at);
  if (kind === 1 || data.length < width * height) return (from, to, at) => to.fill(bit(from) * 255, at, at + 3);
  const parts = Math.floor(data.length / (width * height));
  if (parts < 3) return (from, to, at) => to.fill(data[from * parts]!, at, at + 3);
  return (from, to, at) => {
    const opacity = parts === 4 ? data[from * 4 + 3]! / 255 : 1;
    for (let part = 0; part < 3; part += 1)
      to[at + part] = data[from * parts + part]! * opacity + to[at + part]! * (1 - opacity);
  };
}
