import { element } from "../exports/xml-text.ts";
import { fixed, shortened } from "../pictures/svg.ts";
import { plotFilter } from "./plot-filter.ts";
import { PLOT, plotSvg, plotText } from "./plot-style.ts";
import { isLinearRun, type SimulatedAgent, type SimulatedStep, type Simulation } from "./simulation.ts";

/** Maximum size of a plot. A longer run shows every second step, or every third. */
const MAX_COLUMNS = 200;
const MAX_ROWS = 32;
const MAX_BANDS = 40;
/** Rows of numbers from 0 to 1, one column per step, with optional marks. */
interface Band {
  readonly label: string;
  readonly rows: number;
  /** Labels of the rows, if the model states them. */
  readonly labels?: readonly string[] | undefined;
  value(step: SimulatedStep, row: number): number;
  mark?(step: SimulatedStep): number | undefined;
}

/**
 * Plots a run as SVG: the probability of each state and policy at each step, the true state as a dot, observations and
 * actions.
 */
export function plotRun(simulation: Simulation): string {
  const { title, method, agents } = simulation;
  if (isLinearRun(simulation)) return plotFilter(simulation);
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
  return plotSvg(`${title} (${method})`, y, parts);
}

function drawAgent(agent: SimulatedAgent, top: number, room: number): PlotPanel {
  const every = Math.ceil(agent.steps.length / MAX_COLUMNS);
  const steps = agent.steps.filter((_, index) => index % every === 0);
  const all = bandsOf(agent).slice(0, room);
  const parts: string[] = [];
  let y = top;
  for (const band of all) {
    y += PLOT.gap;
    parts.push(drawBand(band, steps, y));
    y += Math.min(band.rows, MAX_ROWS) * PLOT.row;
  }
  y += PLOT.gap;
  const shown = every === 1 ? "" : `, every ${every} of ${agent.steps.length}`;
  parts.push(plotText({ x: PLOT.left, y: y - 8 }, `step ${steps[0]?.step ?? 0} to ${steps.at(-1)?.step ?? 0}${shown}`));
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
      labels: factor.stateLabels,
      value: ({ beliefs }, row) => beliefs[index]![row]!,
      mark: ({ states }) => states?.[index],
    })),
    ...modalities.map((modality, index): Band => ({
      label: `${of}seen of ${modality.name}`,
      rows: modality.outcomes,
      labels: modality.labels,
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
              labels: factor.actionLabels,
              value: ({ action }, row) => (action[index] === row ? 1 : 0),
            },
          ],
    ),
  ];
}

function drawBand(band: Band, steps: readonly SimulatedStep[], top: number): string {
  const rows = Math.min(band.rows, MAX_ROWS);
  const width = Math.min(24, PLOT.width / steps.length);
  const parts = [
    plotText({ x: 10, y: top - 6 }, band.rows > rows ? `${band.label} (first ${rows} of ${band.rows})` : band.label),
  ];
  for (let row = 0; row < rows; row += 1) parts.push(rowLabel(band, row, top));
  for (const [column, step] of steps.entries()) {
    for (let row = 0; row < rows; row += 1) {
      const opacity = band.value(step, row);
      if (!(opacity > 0.005)) continue;
      const place = {
        x: fixed(PLOT.left + column * width),
        y: top + row * PLOT.row,
        width: fixed(width),
        height: PLOT.row,
      };
      parts.push(element("rect", { class: "p", ...place, "fill-opacity": fixed(opacity) }));
    }
    const mark = band.mark?.(step);
    if (mark === undefined || mark >= rows) continue;
    const center = { cx: fixed(PLOT.left + (column + 0.5) * width), cy: top + (mark + 0.5) * PLOT.row };
    parts.push(element("circle", { class: "s", ...center, r: fixed(Math.min(3.5, width / 2.5)) }));
  }
  const frame = { x: PLOT.left, y: top, width: fixed(width * steps.length), height: rows * PLOT.row };
  parts.push(element("rect", { class: "f", ...frame }));
  return parts.join("");
}

/** Maximum length of a row label, in characters. */
const LABEL = 16;

function rowLabel({ labels }: Band, row: number, top: number): string {
  const y = top + row * PLOT.row + 11;
  const label = labels?.[row];
  return label === undefined
    ? plotText({ x: PLOT.left - 22, y }, String(row))
    : plotText({ x: 34, y }, shortened(label, LABEL));
}
