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

/** Writes state, restarts and sizes of the sources. */
export function writeSources(
  out: MetricsText,
  reports: readonly SourceReport[],
  redact: (text: string) => string,
): void {
  const named = reports.slice(0, MAX_SOURCES).map((report) => ({ ...report, name: redact(report.source.id) }));
  out.family("toolyard_source_up", "gauge", "1 if the source answers calls: its state is ready or degraded.");
  for (const { name, source, status } of named)
    out.sample("toolyard_source_up", isUp(status.state) ? 1 : 0, { source: name, kind: source.kind });
  out.family("toolyard_source_state", "gauge", "1 for the current state of the source, 0 for the others.");
  for (const { name, status } of named)
    for (const state of STATES)
      out.sample("toolyard_source_state", state === status.state ? 1 : 0, { source: name, state });
  out.family("toolyard_source_restarts_total", "counter", "Restarts of the source's server.");
  for (const { name, status } of named)
    out.sample("toolyard_source_restarts_total", status.restarts ?? 0, { source: name });
  out.family("toolyard_source_tools", "gauge", "Tools that the source offers.");
  for (const { name, tools } of named) out.sample("toolyard_source_tools", tools, { source: name });
  out.family("toolyard_source_problems", "gauge", "Definitions of the source that are withheld or repaired.");
  for (const { name, problems } of named) out.sample("toolyard_source_problems", problems.length, { source: name });
}

function isUp(state: ProviderState): boolean {
  return state === "ready" || state === "degraded";
}
