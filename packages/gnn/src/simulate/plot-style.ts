import { element, escapeXml } from "../exports/xml-text.ts";
import { fixed, shortened } from "../pictures/svg.ts";

export const PLOT = { width: 640, left: 150, row: 14, gap: 26 } as const;

const STYLE =
  ":root{color-scheme:light dark}text{font:11px sans-serif;fill:#222}.p{fill:#1f5fbf}.f{fill:none;stroke:#999}" +
  ".s{fill:#d9480f}.v{font-size:9px;text-anchor:middle}.h{font-size:13px;font-weight:bold}.b{fill:#fff}" +
  ".l{fill:none;stroke:#1f5fbf;stroke-width:1.5}" +
  "@media(prefers-color-scheme:dark){text{fill:#ddd}.p{fill:#7ab3ff}.f{stroke:#777}.s{fill:#ffa94d}.b{fill:#1b1b1b}" +
  ".l{stroke:#7ab3ff}}";

export interface PlotPosition {
  readonly x: number;
  readonly y: number;
}

export function plotText({ x, y }: PlotPosition, words: string, name?: string): string {
  return element("text", { x: fixed(x), y: fixed(y), class: name }, escapeXml(shortened(words, 120)));
}

/** Returns a plot of this height as SVG. */
export function plotSvg(heading: string, height: number, parts: readonly string[]): string {
  const width = PLOT.left + PLOT.width + 20;
  const body = [
    element("style", {}, escapeXml(STYLE)),
    element("rect", { class: "b", width, height }),
    plotText({ x: 10, y: 20 }, heading, "h"),
  ];
  const attributes = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height };
  return element("svg", { ...attributes, role: "img" }, [...body, ...parts].join(""));
}
