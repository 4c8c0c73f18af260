import { isJsonObject, listMember, stringMember } from "../../../core/json/json.ts";
import type { TaskSnapshot } from "../../../core/ports/tasks.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import { VERSION } from "../../../core/version.ts";
import type { SourceReport } from "../../../core/ports/hub-port.ts";
import type { Attention, Overview, SourceState } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminCaller } from "../access/admin-caller.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";
import { signInLink, toProblem } from "./source-rows.ts";

/** Maximum number of entries in `attention` of one kind. */
const MAX_ATTENTION = 50;
const MAX_TEXT_CHARS = 500;
/** Time for which a failed task of the caller is shown. */
const TASK_MS = 24 * 60 * 60 * 1000;

export function overviewRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  return [
    {
      method: "GET",
      path: "overview",
      needs: "all",
      summary: "Health, counts, calls per minute, latency, and what needs attention.",
      handle: (request) => overview(parts, request),
    },
  ];
}

async function overview(parts: ConsoleParts, { exchange, caller }: AdminRequest): Promise<Overview> {
  const { hub, startedAt, recentCalls } = parts;
  const reports = hub.sources();
  const states: Partial<Record<SourceState, number>> = {};
  for (const { status } of reports) states[status.state] = (states[status.state] ?? 0) + 1;
  const { baseUrl } = exchange.http;
  const ofSources = reports.flatMap((report) => attentionOf(report, parts, baseUrl)).slice(0, MAX_ATTENTION);
  const ofWork = [...(await scheduleAttention(parts)), ...(await taskAttention(parts, caller))];
  const attention = [...refusedConfiguration(parts), ...ofSources, ...ofWork.slice(0, MAX_ATTENTION)];
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

/** Reports the reason why the configuration that was read last is not in force, if it is not. */
function refusedConfiguration({ hubControl, redactFacts }: ConsoleParts): readonly Attention[] {
  const { problem } = hubControl();
  if (problem === undefined) return [];
  const { text } = redactFacts({ text: firstChars(problem, MAX_TEXT_CHARS) });
  return [{ kind: "refused_configuration", text: String(text) }];
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

/** Schedules whose last run failed or could not start. */
async function scheduleAttention({ schedules, redactFacts }: ConsoleParts): Promise<readonly Attention[]> {
  const all = await schedules.list();
  return all.flatMap(({ name, problem, runs: [last] }): readonly Attention[] => {
    const reason = problem?.message ?? (last && failureOf(last));
    if (reason === undefined) return [];
    const { text } = redactFacts({ text: firstChars(reason, MAX_TEXT_CHARS) });
    return [{ kind: "failed_schedule", source: name, text: String(text) }];
  });
}

/** Tasks of the caller that failed lately, or that wait for an answer. */
async function taskAttention({ tasks }: ConsoleParts, { principal }: AdminCaller): Promise<readonly Attention[]> {
  await tasks.ready({ principal });
  const since = Date.now() - TASK_MS;
  return tasks.list(principal).flatMap((task): readonly Attention[] => {
    const { id, tool: source, status, statusMessage = "", updatedAt } = task;
    if (status === "input_required")
      return [{ kind: "waiting_task", source, task: id, text: firstChars(statusMessage, MAX_TEXT_CHARS) }];
    const reason = failureOf(task);
    // Runs of schedules are shown as schedules.
    if (reason === undefined || Date.parse(updatedAt) < since || task.endpoint.startsWith("schedule")) return [];
    return [{ kind: "failed_task", source, task: id, text: firstChars(reason, MAX_TEXT_CHARS) }];
  });
}

/** Returns why a task failed, or `undefined` if it did not fail. */
function failureOf({ status, error, result }: TaskSnapshot): string | undefined {
  if (status === "failed") return error?.message ?? "";
  if (status !== "completed" || result?.["isError"] !== true) return undefined;
  const [first] = listMember(result, "content").filter(isJsonObject);
  return first === undefined ? "" : (stringMember(first, "text") ?? "");
}
