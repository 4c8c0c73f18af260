import { IDENTITY, type Box, type Matrix } from "./pdf-matrix.ts";

export type Rgb = readonly [number, number, number];

export interface PaintFont {
  readonly vertical?: boolean;
  readonly fontMatrix?: readonly number[];
}

const BLACK: Rgb = [0, 0, 0];

/** Graphics state of a PDF that decides how text and areas look. */
export interface GraphicsState {
  matrix: Matrix;
  clip: Box;
  /** True if the clip is exactly its box. */
  isClipExact: boolean;
  fill: Rgb | undefined;
  stroke: Rgb | undefined;
  fillOpacity: number;
  strokeOpacity: number;
  groupOpacity: number;
  /** True in the content of a soft mask, which is not drawn. */
  isMask: boolean;
  /** True with a blend mode or a soft mask, whose result is not known. */
  isBlended: boolean;
  isMasked: boolean;
  lineWidth: number;
  mode: number;
  font: PaintFont | undefined;
  size: number;
  charSpacing: number;
  wordSpacing: number;
  scale: number;
  leading: number;
  rise: number;
}

/** Returns the state at the beginning of a page. */
export function initialState(clip: Box): GraphicsState {
  return {
    matrix: IDENTITY,
    clip,
    isClipExact: true,
    fill: BLACK,
    stroke: BLACK,
    fillOpacity: 1,
    strokeOpacity: 1,
    groupOpacity: 1,
    isMask: false,
    isBlended: false,
    isMasked: false,
    lineWidth: 1,
    mode: 0,
    font: undefined,
    size: 0,
    charSpacing: 0,
    wordSpacing: 0,
    scale: 1,
    leading: 0,
    rise: 0,
  };
}

/** Reads `#rrggbb`. Returns undefined for any other value. */
export function rgbOf(color: unknown): Rgb | undefined {
  const value = /^#([\da-f]{6})$/i.exec(String(color))?.[1];
  if (value === undefined) return undefined;
  return [0, 2, 4].map((at) => Number.parseInt(value.slice(at, at + 2), 16)) as unknown as Rgb;
}
