import { VERSION } from "../../../core/version.ts";
import type { SourceReport } from "../../../core/ports/hub-port.ts";
import type { Attention, Overview, SourceState } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminRoute } from "./route.ts";
import { signInLink, toProblem } from "./source-rows.ts";

/** Maximum number of entries in `attention` of one kind. */
const MAX_ATTENTION = 50;

export function overviewRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  return [
    {
      method: "GET",
      path: "overview",
      needs: "all",
      summary: "Health, counts, calls per minute, latency, and what needs attention.",
      handle: ({ exchange }) => overview(parts, exchange.http.baseUrl),
    },
  ];
}

function overview(parts: ConsoleParts, baseUrl: string): Overview {
  const { hub, startedAt, recentCalls } = parts;
  const reports = hub.sources();
  const states: Partial<Record<SourceState, number>> = {};
  for (const { status } of reports) states[status.state] = (states[status.state] ?? 0) + 1;
  const attention = reports.flatMap((report) => attentionOf(report, parts, baseUrl)).slice(0, MAX_ATTENTION);
  const sum = (key: "tools" | "resources" | "prompts"): number => reports.reduce((total, one) => total + one[key], 0);
  return {
    status: attention.length === 0 ? "ok" : "attention",
    version: VERSION,
    startedAt: startedAt.toISOString(),
    uptimeSeconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    memoryBytes: process.memoryUsage.rss(),
    states,
    tools: sum("tools"),
    resources: sum("resources"),
    prompts: sum("prompts"),
    calls: recentCalls?.total ?? { calls: 0, errors: 0 },
    minutes: recentCalls?.minutes() ?? [],
    attention,
  };
}

function attentionOf(report: SourceReport, parts: ConsoleParts, baseUrl: string): readonly Attention[] {
  const { source, status, problems } = report;
  const { state, lastError = "" } = status;
  const own: Attention[] = [];
  if (state === "needs_authorisation") {
    const link = signInLink(source.id, parts.signIns, baseUrl);
    own.push({ kind: "sign_in", source: source.id, text: lastError, ...(link !== undefined && { link }) });
  } else if (state === "down" || state === "degraded")
    own.push({ kind: "failing", source: source.id, text: lastError });
  else if (state === "disabled" && lastError !== "")
    own.push({ kind: "configuration", source: source.id, text: lastError });
  const others = problems.map(toProblem).flatMap(({ subject, message, severity }): readonly Attention[] => {
    if (severity === "changed") return [{ kind: "changed_tool", source: source.id, text: `${subject}: ${message}` }];
    if (severity !== "fault" || message === lastError) return [];
    return [{ kind: "withheld_tool", source: source.id, text: `${subject}: ${message}` }];
  });
  return [...own, ...others];
}
