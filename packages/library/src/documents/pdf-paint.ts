import { initialState, rgbOf, type GraphicsState, type PaintFont, type Rgb } from "./pdf-graphics.ts";
import { common, IDENTITY, placedBox, pointOf, times, type Box, type Matrix, type Point } from "./pdf-matrix.ts";
import { areaOf } from "./pdf-paths.ts";

/** Drawing operators of a page of pdf.js. */
export interface Operators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly (readonly unknown[] | null)[];
}

/** Area that an operator paints. */
export interface PaintedArea {
  readonly box: Box;
  /** Colour of the whole area; undefined if it is a picture, a pattern, translucent, or not exactly the box. */
  readonly color?: Rgb;
  readonly isPicture: boolean;
}

/** A character as drawn, in the page's own coordinates. */
export interface DrawnGlyph {
  readonly text: string;
  readonly origin: Point;
  readonly width: number;
  /** Point in the middle of the character. */
  readonly middle: Point;
  /** Number of areas that were painted before it. */
  readonly order: number;
  readonly ink: Ink;
}

/** How characters are drawn. */
export interface Ink {
  /** Colours of the filled letters and of their outlines; undefined if not known, such as a pattern. */
  readonly colors: readonly (Rgb | undefined)[];
  /** False if the text rendering mode draws nothing, as in the text layer of a scan. */
  readonly isDrawn: boolean;
  /** True if the letters limit the areas that are painted after them, and so appear in their colours. */
  readonly isClip: boolean;
  /** True if the letters are transparent, on a layer that is switched off, or too small to be seen. */
  readonly isClear: boolean;
  readonly clip: Box;
}

/** Content of a page, as it is drawn. */
export interface PagePaint {
  readonly glyphs: readonly DrawnGlyph[];
  readonly areas: readonly PaintedArea[];
  /** Characters that are cut out of an area by a soft mask, as `placeKey` names them. */
  readonly masks: ReadonlySet<string>;
}

/** Returns a key of a character and its place. */
export function placeKey(text: string, { x, y }: Point): string {
  return `${text} ${Math.round(x)} ${Math.round(y)}`;
}

export interface PaintFacts {
  readonly view: Box;
  /** Returns the font of an operator's font name. */
  readonly font: (name: string) => PaintFont | undefined;
  /** Returns whether an optional layer is switched on. */
  readonly isShown: (layer: unknown) => boolean;
}

/** Maximum number of areas per page. Of a page with more, backgrounds are not known, and a warning names the page. */
export const MAX_AREAS = 5_000;
/** Maximum opacity and size, in points, of text that cannot be seen. */
const MAX_CLEAR_OPACITY = 0.02;
const MAX_CLEAR_SIZE = 1;
/** Minimum width of a line that can be a background, and minimum size of an area, in points. */
const MIN_LINE = 3;
/** First text rendering mode that adds letters to the clip. */
const FIRST_CLIP_MODE = 4;
/** Height of the middle of a letter above its base line, as a share of its size. */
const MIDDLE = 0.3;
const STROKES: ReadonlySet<number> = new Set([20, 21]);
const FILLS: ReadonlySet<number> = new Set([22, 23, 24, 25, 26, 27]);
const BEGIN_ANNOTATION = 80;

type Args = readonly unknown[];

/** Follows the drawing operators of a page, and records where characters and areas are drawn. */
export class PaintWalk implements PagePaint {
  readonly glyphs: DrawnGlyph[] = [];
  readonly areas: PaintedArea[] = [];
  readonly masks = new Set<string>();
  readonly #facts: PaintFacts;
  #state: GraphicsState;
  readonly #saved: GraphicsState[] = [];
  /** True for marked content that is switched off. */
  readonly #marks: boolean[] = [];
  #hidden = 0;
  #textMatrix: Matrix = IDENTITY;
  #lineMatrix: Matrix = IDENTITY;
  #isClipPending = false;

  constructor(facts: PaintFacts) {
    this.#facts = facts;
    this.#state = initialState(facts.view);
  }

  walk({ fnArray, argsArray }: Operators): this {
    for (const [at, operator] of fnArray.entries()) {
      // Annotations follow the content.
      if (operator === BEGIN_ANNOTATION) break;
      const args = argsArray[at] ?? [];
      if (operator >= 83 && operator <= 90) this.#addPicture(operator, args);
      else this.#handlers[operator]?.(args);
    }
    return this;
  }

  /** Handlers by operator number of pdf.js. */
  readonly #handlers: Readonly<Record<number, (args: Args) => void>> = {
    2: ([width]) => (this.#state.lineWidth = Number(width)),
    9: ([entries]) => this.#set(entries as readonly (readonly [string, unknown])[]),
    10: () => this.#save(),
    11: () => this.#restore(),
    12: (matrix) => this.#transform(matrix as unknown as Matrix),
    29: () => (this.#isClipPending = true),
    30: () => (this.#isClipPending = true),
    31: () => (this.#textMatrix = this.#lineMatrix = IDENTITY),
    33: ([spacing]) => (this.#state.charSpacing = Number(spacing)),
    34: ([spacing]) => (this.#state.wordSpacing = Number(spacing)),
    35: ([percent]) => (this.#state.scale = Number(percent) / 100),
    36: ([leading]) => (this.#state.leading = -Number(leading)),
    37: ([name, size]) => this.#setFont(String(name), Number(size)),
    38: ([mode]) => (this.#state.mode = Number(mode)),
    39: ([rise]) => (this.#state.rise = Number(rise)),
    40: ([x, y]) => this.#moveText(Number(x), Number(y)),
    41: ([x, y]) => {
      this.#state.leading = Number(y);
      this.#moveText(Number(x), Number(y));
    },
    42: ([matrix]) => (this.#textMatrix = this.#lineMatrix = Array.from(matrix as ArrayLike<number>) as never),
    43: () => this.#moveText(0, this.#state.leading),
    44: ([glyphs]) => this.#show(glyphs as readonly (PdfGlyph | number | null)[]),
    53: () => (this.#state.stroke = undefined),
    55: () => (this.#state.fill = undefined),
    58: ([color]) => (this.#state.stroke = rgbOf(color)),
    59: ([color]) => (this.#state.fill = rgbOf(color)),
    62: () => this.#add([this.#state.clip], { isExact: false }),
    69: () => void this.#marks.push(false),
    70: ([tag, layer]) => this.#mark(tag === "OC" && !this.#facts.isShown(layer)),
    71: () => (this.#hidden -= this.#marks.pop() === true ? 1 : 0),
    74: ([matrix, box]) => this.#beginForm(matrix, box),
    75: () => this.#restore(),
    76: ([group]) => this.#beginGroup(group as PdfGroup),
    77: () => this.#restore(),
    91: ([operator, data, bounds]) => this.#path(Number(operator), data, bounds as ArrayLike<number> | null),
    92: () => (this.#state.stroke = undefined),
    93: () => (this.#state.fill = undefined),
  };

  #save(): void {
    this.#saved.push({ ...this.#state });
  }

  #restore(): void {
    this.#state = this.#saved.pop() ?? this.#state;
  }

  #transform(matrix: Matrix): void {
    this.#state.matrix = times(this.#state.matrix, matrix);
  }

  #set(entries: readonly (readonly [string, unknown])[]): void {
    for (const [key, value] of entries) {
      if (key === "ca") this.#state.fillOpacity = Number(value);
      else if (key === "CA") this.#state.strokeOpacity = Number(value);
      else if (key === "LW") this.#state.lineWidth = Number(value);
      else if (key === "Font") this.#setFont(String((value as Args)[0]), Number((value as Args)[1]));
      else if (key === "BM") this.#state.isBlended = value !== "source-over";
      else if (key === "SMask") this.#state.isMasked = value !== false;
    }
  }

  #setFont(name: string, size: number): void {
    this.#state.font = this.#facts.font(name);
    this.#state.size = size;
  }

  #mark(isHidden: boolean): void {
    this.#marks.push(isHidden);
    if (isHidden) this.#hidden += 1;
  }

  #beginForm(matrix: unknown, box: unknown): void {
    this.#save();
    if (matrix) this.#transform(Array.from(matrix as ArrayLike<number>) as unknown as Matrix);
    if (!box) return;
    const [left = 0, bottom = 0, right = 0, top = 0] = Array.from(box as ArrayLike<number>);
    const placed = placedBox(this.#state.matrix, { left, bottom, right, top });
    this.#state.clip = common(this.#state.clip, placed);
  }

  /** Begins a group, which is painted as a whole with the preceding opacity. The form in it has the same matrix. */
  #beginGroup(group: PdfGroup): void {
    const { matrix } = this.#state;
    this.#beginForm(group.matrix, group.bbox);
    const state = this.#state;
    state.matrix = matrix;
    state.groupOpacity *= state.fillOpacity;
    state.fillOpacity = state.strokeOpacity = 1;
    state.isMask ||= Boolean(group.smask);
  }

  #moveText(x: number, y: number): void {
    this.#lineMatrix = times(this.#lineMatrix, [1, 0, 0, 1, x, y]);
    this.#textMatrix = this.#lineMatrix;
  }

  #show(glyphs: readonly (PdfGlyph | number | null)[]): void {
    const { matrix, font, size, scale } = this.#state;
    const placed = times(matrix, this.#textMatrix);
    const isVertical = font?.vertical === true;
    const ink = this.#ink(Math.hypot(placed[2], placed[3]) * Math.abs(size));
    const run = { placed, ink, isVertical, unit: (font?.fontMatrix?.[0] ?? 0.001) * size };
    const kern = (size / 1000) * (isVertical ? 1 : scale);
    let along = 0;
    for (const glyph of glyphs) along += isGlyph(glyph) ? this.#draw(glyph, along, run) : -(glyph ?? 0) * kern;
    this.#textMatrix = times(this.#textMatrix, isVertical ? [1, 0, 0, 1, 0, -along] : [1, 0, 0, 1, along, 0]);
  }

  /** Records a character at a distance from the beginning of its run. Returns its own advance. */
  #draw({ unicode: text, width, isSpace = false }: PdfGlyph, along: number, run: GlyphRun): number {
    const { size, rise, scale, charSpacing, wordSpacing, isMask } = this.#state;
    const { placed, ink, isVertical, unit } = run;
    const advance = isVertical ? size : width * unit * scale;
    const [x, y] = isVertical ? [0, -along] : [along, rise];
    const [dx, dy] = isVertical ? [0, -advance / 2] : [advance / 2, size * MIDDLE];
    const origin = pointOf(placed, x, y);
    const spacing = charSpacing + (isSpace ? wordSpacing : 0);
    const end = advance + spacing * (isVertical ? 1 : scale);
    if (isMask) {
      this.masks.add(placeKey(text, origin));
      return end;
    }
    this.glyphs.push({
      text,
      origin,
      width: placed[0] * advance,
      middle: pointOf(placed, x + dx, y + dy),
      order: this.areas.length,
      ink,
    });
    return end;
  }

  #ink(size: number): Ink {
    const { mode, fill, stroke, fillOpacity, strokeOpacity, groupOpacity, clip } = this.#state;
    const isFilled = mode % 4 === 0 || mode % 4 === 2;
    const isStroked = mode % 4 === 1 || mode % 4 === 2;
    const opacity = groupOpacity * Math.max(isFilled ? fillOpacity : 0, isStroked ? strokeOpacity : 0);
    const isDrawn = isFilled || isStroked;
    return {
      colors: [...(isFilled ? [fill] : []), ...(isStroked ? [stroke] : [])],
      isDrawn,
      isClip: mode >= FIRST_CLIP_MODE,
      isClear: this.#hidden > 0 || size < MAX_CLEAR_SIZE || (isDrawn && opacity <= MAX_CLEAR_OPACITY),
      clip,
    };
  }

  #path(operator: number, data: unknown, bounds: ArrayLike<number> | null): void {
    if (bounds) {
      const path = Array.isArray(data) ? (data[0] as ArrayLike<number> | undefined) : undefined;
      const area = areaOf(
        path !== undefined && "length" in Object(path) ? path : undefined,
        bounds,
        this.#state.matrix,
      );
      if (FILLS.has(operator)) this.#add(area.boxes, { color: this.#state.fill, isExact: area.isExact });
      if (STROKES.has(operator)) this.#addLine(area.boxes);
      if (this.#isClipPending) this.#clipTo(area.boxes, area.isExact);
    } else if (this.#isClipPending) {
      // An empty path clips everything.
      this.#state.clip = { left: 0, bottom: 0, right: -1, top: -1 };
    }
    this.#isClipPending = false;
  }

  #clipTo(boxes: readonly Box[], isExact: boolean): void {
    const around = boxes.reduce((one, other) => ({
      left: Math.min(one.left, other.left),
      bottom: Math.min(one.bottom, other.bottom),
      right: Math.max(one.right, other.right),
      top: Math.max(one.top, other.top),
    }));
    this.#state.clip = common(this.#state.clip, around);
    this.#state.isClipExact &&= isExact && boxes.length === 1;
  }

  #addLine(boxes: readonly Box[]): void {
    const { matrix, lineWidth } = this.#state;
    const half = (Math.hypot(matrix[0], matrix[1]) * lineWidth) / 2;
    if (half * 2 < MIN_LINE) return;
    const wide = boxes.map(({ left, bottom, right, top }) => ({
      left: left - half,
      bottom: bottom - half,
      right: right + half,
      top: top + half,
    }));
    this.#add(wide, { isExact: false });
  }

  #add(
    boxes: readonly Box[],
    { color, isExact }: { readonly color?: Rgb | undefined; readonly isExact: boolean },
  ): void {
    const { clip, isClipExact, isBlended, isMasked, fillOpacity, groupOpacity } = this.#state;
    const opacity = fillOpacity * groupOpacity;
    if (this.#hidden > 0 || opacity <= MAX_CLEAR_OPACITY) return;
    const isOpaque = opacity >= 1 - MAX_CLEAR_OPACITY && !isBlended && !isMasked;
    const isKnown = isExact && isClipExact && isOpaque && color !== undefined;
    for (const one of boxes) {
      const box = common(one, clip);
      if (box.right - box.left < MIN_LINE || box.top - box.bottom < MIN_LINE) continue;
      this.#push({ box, isPicture: false, ...(isKnown && { color }) });
    }
  }

  #addPicture(operator: number, args: Args): void {
    const { matrix, clip } = this.#state;
    if (this.#hidden > 0) return;
    // Operators of repeated pictures have their own places, so the whole clip counts as painted.
    const isSingle = operator === 83 || operator === 85 || operator === 86;
    this.#push({ box: isSingle && args.length > 0 ? common(placedBox(matrix), clip) : clip, isPicture: true });
  }

  #push(area: PaintedArea): void {
    if (this.areas.length <= MAX_AREAS && !this.#state.isMask) this.areas.push(area);
  }
}

/** A transparency group of pdf.js. */
interface PdfGroup {
  readonly matrix?: unknown;
  readonly bbox?: unknown;
  readonly smask?: unknown;
}

/** Values that the characters of a text operator share. */
interface GlyphRun {
  readonly placed: Matrix;
  readonly ink: Ink;
  readonly isVertical: boolean;
  /** Factor of a character's width. */
  readonly unit: number;
}

/** A character of a text operator of pdf.js. */
interface PdfGlyph {
  readonly unicode: string;
  readonly width: number;
  readonly isSpace?: boolean;
}

function isGlyph(glyph: PdfGlyph | number | null): glyph is PdfGlyph {
  return typeof glyph === "object" && glyph !== null;
}
