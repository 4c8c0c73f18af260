import { element, escapeXml } from "../exports/xml-text.ts";
import type { Theme } from "./theme.ts";

/** Advance widths of the characters U+0020 to U+007E in DejaVu Sans, in tenths of an em. */
const WIDTHS = "345861083445834336666666666338885107778668833769786876677107674348556656646633631066664546686656368";
const LATIN = Array.from(WIDTHS.matchAll(/10|\d/g), ([width]) => Number(width) / 10);
const OTHERS = 0.68;

/** Returns the approximate width of a text. */
export function textWidth(text: string, size: number): number {
  let ems = 0;
  for (const sign of text) ems += LATIN[sign.codePointAt(0)! - 0x20] ?? OTHERS;
  return ems * size;
}

/** Returns a text truncated to this number of characters. */
export function shortened(text: string, most: number): string {
  const signs = Array.from(text);
  return signs.length <= most ? text : `${signs.slice(0, most - 1).join("")}…`;
}

export interface TextOptions {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly fill: string;
  readonly anchor?: "start" | "middle" | "end";
  readonly isBold?: boolean;
}

export function svgText(text: string, { x, y, size, fill, anchor = "middle", isBold = false }: TextOptions): string {
  const attributes = {
    x: fixed(x),
    y: fixed(y),
    "font-size": size,
    fill,
    "text-anchor": anchor === "start" ? undefined : anchor,
    "font-weight": isBold ? "bold" : undefined,
  };
  return element("text", attributes, escapeXml(text));
}

/** Rounds to at most two decimals. */
export function fixed(value: number): number {
  return Math.round(value * 100) / 100;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly body: readonly string[];
}

/** Returns a complete SVG file. It requires no font to be installed and loads nothing. */
export function toSvg({ width, height, title, body }: Drawing, theme: Theme): string {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" ` +
      `font-family="DejaVu Sans, Verdana, sans-serif" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${wide}" height="${high}" fill="${theme.background}"/>`,
    ...body,
    "</svg>\n",
  ].join("\n");
}
