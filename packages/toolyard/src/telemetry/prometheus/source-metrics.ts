import type { SourceReport } from "../../core/ports/hub-port.ts";
import type { ProviderState } from "../../core/sources/provider.ts";
import type { MetricsText } from "./metrics-text.ts";

/** States of a source. Each is a separate series, so that a change of state leaves no old series. */
const STATES: readonly ProviderState[] = [
  "starting",
  "ready",
  "degraded",
  "down",
  "needs_authorisation",
  "disabled",
  "closed",
];
/** Maximum number of sources with separate series, above that of any expected configuration. */
const MAX_SOURCES = 1000;

/** Writes state, restarts and sizes of the sources. Sources with names that differ only in secrets are one series. */
export function writeSources(
  out: MetricsText,
  reports: readonly SourceReport[],
  redact: (text: string) => string,
): void {
  const all = [...joinedByName(reports.slice(0, MAX_SOURCES), redact).values()];
  out.family("toolyard_source_up", "gauge", "1 if the source answers calls: its state is ready or degraded.");
  for (const { source, kind, states } of all)
    out.sample("toolyard_source_up", states.every(isUp) ? 1 : 0, { source, kind });
  out.family("toolyard_source_state", "gauge", "1 for the current state of the source, 0 for the others.");
  for (const { source, states } of all)
    for (const state of STATES) out.sample("toolyard_source_state", states.includes(state) ? 1 : 0, { source, state });
  out.family("toolyard_source_restarts_total", "counter", "Restarts of the source's server.");
  for (const { source, restarts } of all) out.sample("toolyard_source_restarts_total", restarts, { source });
  out.family("toolyard_source_tools", "gauge", "Tools that the source offers.");
  for (const { source, tools } of all) out.sample("toolyard_source_tools", tools, { source });
  out.family("toolyard_source_problems", "gauge", "Definitions of the source that are withheld or repaired.");
  for (const { source, problems } of all) out.sample("toolyard_source_problems", problems, { source });
}

interface SourceSums {
  readonly source: string;
  readonly kind: string;
  readonly states: ProviderState[];
  restarts: number;
  tools: number;
  problems: number;
}

function joinedByName(
  reports: readonly SourceReport[],
  redact: (text: string) => string,
): ReadonlyMap<string, SourceSums> {
  const byName = new Map<string, SourceSums>();
  for (const { source, status, tools, problems } of reports) {
    const name = redact(source.id);
    let sums = byName.get(name);
    if (!sums)
      byName.set(name, (sums = { source: name, kind: source.kind, states: [], restarts: 0, tools: 0, problems: 0 }));
    sums.states.push(status.state);
    sums.restarts += status.restarts ?? 0;
    sums.tools += tools;
    sums.problems += problems.length;
  }
  return byName;
}

function isUp(state: ProviderState): boolean {
  return state === "ready" || state === "degraded";
}
