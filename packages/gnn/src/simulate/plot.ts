import { element, escapeXml } from "../exports/xml-text.ts";
import { fixed, shortened } from "../pictures/svg.ts";
import type { SimulatedAgent, SimulatedStep, Simulation } from "./simulate.ts";

/** Bounds of a picture; a longer run shows every second step, or every third. */
const MAX_COLUMNS = 200;
const MAX_ROWS = 32;
const MAX_BANDS = 40;
const WIDTH = 640;
const LEFT = 150;
const ROW = 14;
const GAP = 26;
const STYLE =
  ":root{color-scheme:light dark}text{font:11px sans-serif;fill:#222}.p{fill:#1f5fbf}.f{fill:none;stroke:#999}" +
  ".s{fill:#d9480f}.v{font-size:9px;text-anchor:middle}.h{font-size:13px;font-weight:bold}.b{fill:#fff}" +
  "@media(prefers-color-scheme:dark){text{fill:#ddd}.p{fill:#7ab3ff}.f{stroke:#777}.s{fill:#ffa94d}.b{fill:#1b1b1b}}";

interface PlotPosition {
  readonly x: number;
  readonly y: number;
}

/** Rows of numbers from 0 to 1, one column per step, some of them marked. */
interface Band {
  readonly label: string;
  readonly rows: number;
  value(step: SimulatedStep, row: number): number;
  mark?(step: SimulatedStep): number | undefined;
}

/**
 * Returns a run as SVG: the probability of each state and policy at each step, the true state as a dot, observations
 * and actions.
 */
export function plotRun({ title, method, agents }: Simulation): string {
  const parts: string[] = [];
  let y = 34;
  let bands = 0;
  for (const agent of agents) {
    if (bands >= MAX_BANDS) break;
    const drawn = drawAgent(agent, y, MAX_BANDS - bands);
    parts.push(drawn.content);
    y = drawn.bottom;
    bands += drawn.bands;
  }
  const width = LEFT + WIDTH + 20;
  const heading = text({ x: 10, y: 20 }, `${title} (${method})`, "h");
  const body = [element("style", {}, escapeXml(STYLE)), element("rect", { class: "b", width, height: y }), heading];
  const attributes = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${y}`, width, height: y };
  return element("svg", { ...attributes, role: "img" }, [...body, ...parts].join(""));
}

function drawAgent(agent: SimulatedAgent, top: number, room: number): PlotPanel {
  const every = Math.ceil(agent.steps.length / MAX_COLUMNS);
  const steps = agent.steps.filter((_, index) => index % every === 0);
  const all = bandsOf(agent).slice(0, room);
  const parts: string[] = [];
  let y = top;
  for (const band of all) {
    y += GAP;
    parts.push(drawBand(band, steps, y));
    y += Math.min(band.rows, MAX_ROWS) * ROW;
  }
  y += GAP;
  const shown = every === 1 ? "" : `, every ${every} of ${agent.steps.length}`;
  parts.push(text({ x: LEFT, y: y - 8 }, `step ${steps[0]?.step ?? 0} to ${steps.at(-1)?.step ?? 0}${shown}`));
  return { content: parts.join(""), bottom: y, bands: all.length };
}

interface PlotPanel {
  readonly content: string;
  readonly bottom: number;
  readonly bands: number;
}

function bandsOf({ name, factors, modalities, steps }: SimulatedAgent): readonly Band[] {
  const of = name === "" ? "" : `${name} `;
  const policies = steps[0]?.policies.length ?? 0;
  return [
    ...factors.map((factor, index): Band => ({
      label: `${of}states of ${factor.name}`,
      rows: factor.states,
      value: ({ beliefs }, row) => beliefs[index]![row]!,
      mark: ({ states }) => states?.[index],
    })),
    ...modalities.map((modality, index): Band => ({
      label: `${of}seen of ${modality.name}`,
      rows: modality.outcomes,
      value: ({ observation }, row) => (observation[index] === row ? 1 : 0),
    })),
    { label: `${of}policies`, rows: policies, value: (step, row) => step.policies[row]! },
    ...factors.flatMap((factor, index): Band[] =>
      factor.actions === 1
        ? []
        : [
            {
              label: `${of}actions on ${factor.name}`,
              rows: factor.actions,
              value: ({ action }, row) => (action[index] === row ? 1 : 0),
            },
          ],
    ),
  ];
}

function drawBand(band: Band, steps: readonly SimulatedStep[], top: number): string {
  const rows = Math.min(band.rows, MAX_ROWS);
  const width = Math.min(24, WIDTH / steps.length);
  const parts = [
    text({ x: 10, y: top - 6 }, band.rows > rows ? `${band.label} (first ${rows} of ${band.rows})` : band.label),
  ];
  for (let row = 0; row < rows; row += 1) parts.push(text({ x: LEFT - 22, y: top + row * ROW + 11 }, String(row)));
  for (const [column, step] of steps.entries()) {
    for (let row = 0; row < rows; row += 1) {
      const opacity = band.value(step, row);
      if (!(opacity > 0.005)) continue;
      const place = { x: fixed(LEFT + column * width), y: top + row * ROW, width: fixed(width), height: ROW };
      parts.push(element("rect", { class: "p", ...place, "fill-opacity": fixed(opacity) }));
    }
    const mark = band.mark?.(step);
    if (mark === undefined || mark >= rows) continue;
    const center = { cx: fixed(LEFT + (column + 0.5) * width), cy: top + (mark + 0.5) * ROW };
    parts.push(element("circle", { class: "s", ...center, r: fixed(Math.min(3.5, width / 2.5)) }));
  }
  const frame = { x: LEFT, y: top, width: fixed(width * steps.length), height: rows * ROW };
  parts.push(element("rect", { class: "f", ...frame }));
  return parts.join("");
}

function text({ x, y }: PlotPosition, words: string, name?: string): string {
  return element("text", { x: fixed(x), y: fixed(y), class: name }, escapeXml(shortened(words, 120)));
}
