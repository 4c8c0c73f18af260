import type { SourceReport } from "../../core/ports/hub-port.ts";
import type { ProviderState } from "../../core/sources/provider.ts";
import { isHubItself } from "../../core/sources/provider-kinds.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import type { Io } from "../output/io.ts";
import type { LiveLine } from "./line-text.ts";
import { showLive, type Live } from "./live.ts";

/** Shows all sources except the hub's own, from their start until they respond or fail. */
export function showSources(hub: { sources(): readonly SourceReport[] }, { json }: SharedOptions, io: Io): Live {
  const settle = settled();
  return showLive(io, { read: () => hub.sources().flatMap(sourceLine).map(settle), json: json === true });
}

/** Keeps a failed source shown as failed while it retries, until it succeeds. */
function settled(): (line: LiveLine) => LiveLine {
  const failed = new Map<string, LiveLine>();
  return (line) => {
    const { name, outcome = "busy" } = line;
    if (outcome === "busy") return failed.get(name) ?? line;
    if (outcome === "failed") failed.set(name, line);
    else failed.delete(name);
    return line;
  };
}

const OUTCOMES: Readonly<Partial<Record<ProviderState, LiveLine["outcome"]>>> = {
  ready: "ok",
  disabled: "ok",
  closed: "ok",
  degraded: "failed",
  down: "failed",
  needs_authorisation: "failed",
};

/** Minimum delay by CPU or disk that is shown. Shorter delays occur on any machine. */
const MIN_TOLD_MS = 1000;

export function sourceLine({ source, status, tools }: SourceReport): LiveLine[] {
  if (isHubItself(source)) return [];
  const { state, lastError, installing, delayedMs = 0 } = status;
  if (installing)
    return [{ name: source.id, state: "installing", note: installing.waitsFor, since: Date.parse(installing.since) }];
  const outcome = OUTCOMES[state] ?? "busy";
  const isHeldUp = outcome === "busy" && delayedMs >= MIN_TOLD_MS;
  const note = outcome === "ok" ? toolsText(tools) : isHeldUp ? "the machine is busy" : lastError;
  return [{ name: source.id, state, outcome, ...(note !== undefined && { note }) }];
}

function toolsText(tools: number): string | undefined {
  if (tools === 0) return undefined;
  return tools === 1 ? "1 tool" : `${tools} tools`;
}
