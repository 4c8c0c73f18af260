import { element } from "../exports/xml-text.ts";
import { fixed } from "../pictures/svg.ts";
import { PLOT, plotSvg, plotText } from "./plot-style.ts";
import type { FilteredStep, LinearSimulation } from "./simulation.ts";

/** Maximum number of state dimensions that are drawn. */
const MAX_PANELS = 12;
/** Maximum number of points of a line. A longer run shows every second step, or every third. */
const MAX_POINTS = 400;
const PANEL = 110;

/** Plots the run of a filter as SVG: for each dimension the mean with two standard deviations, and the true state. */
export function plotFilter({ title, method, filtered }: LinearSimulation): string {
  const size = filtered[0]!.mean.length;
  const every = Math.ceil(filtered.length / MAX_POINTS);
  const steps = filtered.filter((_, index) => index % every === 0);
  const parts: string[] = [];
  let y = 34;
  for (let dimension = 0; dimension < Math.min(size, MAX_PANELS); dimension += 1) {
    y += PLOT.gap;
    parts.push(drawPanel(steps, dimension, y));
    y += PANEL;
  }
  y += PLOT.gap;
  const shown = every === 1 ? "" : `, every ${every} of ${filtered.length}`;
  parts.push(plotText({ x: PLOT.left, y: y - 8 }, `step 0 to ${filtered.length - 1}${shown}`));
  if (size > MAX_PANELS) parts.push(plotText({ x: 10, y: y - 8 }, `first ${MAX_PANELS} of ${size} dimensions`));
  return plotSvg(`${title} (${method})`, y, parts);
}

function drawPanel(steps: readonly FilteredStep[], dimension: number, top: number): string {
  const spread = ({ mean, covariance }: FilteredStep): number =>
    2 * Math.sqrt(Math.max(0, covariance[dimension * (mean.length + 1)]!));
  const values = steps.flatMap((step) => {
    const mean = step.mean[dimension]!;
    return [mean - spread(step), mean + spread(step), step.state?.[dimension] ?? mean];
  });
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const range = high - low || 1;
  const x = (index: number): number => fixed(PLOT.left + (PLOT.width * (index + 0.5)) / steps.length);
  const y = (value: number): number => fixed(top + PANEL * (1 - (value - low) / range));
  const at = (index: number, value: number): string => `${x(index)},${y(value)}`;
  const upper = steps.map((step, index) => at(index, step.mean[dimension]! + spread(step)));
  const lower = steps.map((step, index) => at(index, step.mean[dimension]! - spread(step)));
  return [
    plotText({ x: 10, y: top + 12 }, `state ${dimension}`),
    plotText({ x: 60, y: top + 12 }, high.toPrecision(4)),
    plotText({ x: 60, y: top + PANEL }, low.toPrecision(4)),
    element("polygon", { class: "p", "fill-opacity": 0.2, points: [...upper, ...lower.toReversed()].join(" ") }),
    element("polyline", { class: "l", points: steps.map((step, index) => at(index, step.mean[dimension]!)).join(" ") }),
    ...steps.flatMap(({ state }, index) =>
      state ? [element("circle", { class: "s", cx: x(index), cy: y(state[dimension]!), r: 2 })] : [],
    ),
    element("rect", { class: "f", x: PLOT.left, y: top, width: PLOT.width, height: PANEL }),
  ].join("");
}
