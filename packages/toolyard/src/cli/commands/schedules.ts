import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, listMember, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { toolValue } from "../../core/calls/tool-value.ts";
import { SCHEDULES_PATH } from "../../endpoints/paths.ts";
import { EXIT } from "../failure.ts";
import { requestRunningHub, type RunningHubRequest } from "../hub-access/request-running-hub.ts";
import { print, printJson, printPainted, type Io } from "../output/io.ts";
import { plainLine, table } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

/** Runs `toolyard schedules list`. */
export const list: CommandAction<SharedOptions> = async (_args, options, io) => {
  const schedules = listMember(await ask({ path: "" }, options, io), "schedules").filter(isJsonObject);
  if (options.json) await printJson(io.stdout, schedules);
  else if (schedules.length === 0)
    await print(io.stdout, "This hub has no schedules. Add one as `[schedules.<name>]` with `cron` and `tool`.");
  else {
    const heads = ["name", "cron", "tool", "next", "last run"];
    await printPainted(io.stdout, table(heads, schedules.map(rowOf), io));
  }
  return EXIT.ok;
};

function rowOf(schedule: JsonObject): readonly string[] {
  const text = (name: string): string => stringMember(schedule, name) ?? "";
  const next = schedule["enabled"] === false ? "disabled" : text("next");
  return [text("name"), text("cron"), text("tool"), next, lastRun(schedule)];
}

function lastRun(schedule: JsonObject): string {
  const problem = objectMember(schedule, "problem");
  if (problem) return `not started: ${String(problem["message"])}`;
  const run = listMember(schedule, "runs").find(isJsonObject);
  return run ? `${String(run["status"])} ${String(run["createdAt"])}` : "none";
}

/** Runs `toolyard schedules show`. */
export const show: CommandAction<SharedOptions> = async ([name = ""], options, io) => {
  const schedule = await ask({ path: `/${encodeURIComponent(name)}` }, options, io);
  if (options.json) await printJson(io.stdout, schedule);
  else {
    await printPainted(io.stdout, table(["name", "cron", "tool", "next", "last run"], [rowOf(schedule)], io));
    const runs = listMember(schedule, "runs").filter(isJsonObject);
    for (const run of runs)
      await print(
        io.stdout,
        plainLine(`${["id", "status", "createdAt"].map((key) => String(run[key])).join("  ")}${endOf(run)}`),
      );
  }
  return EXIT.ok;
};

/** Returns the result or the error of a run on one line. */
function endOf(run: JsonObject): string {
  const { result, error, statusMessage } = run;
  if (isJsonObject(result)) return `  ${stringifyExact(toolValue(result))}`;
  const message = isJsonObject(error) ? stringMember(error, "message") : statusMessage;
  return typeof message === "string" ? `  ${message}` : "";
}

/** Runs `toolyard schedules run`. */
export const run: CommandAction<SharedOptions> = async ([name = ""], options, io) => {
  const task = await ask({ path: `/${encodeURIComponent(name)}`, method: "POST", body: "{}" }, options, io);
  if (options.json) await printJson(io.stdout, task);
  else {
    await print(io.stdout, String(task["id"]));
    await print(io.stderr, `\`toolyard schedules show ${name}\` shows its result.`);
  }
  return EXIT.ok;
};

/** Runs `toolyard schedules cancel`. */
export const cancel: CommandAction<SharedOptions> = async ([name = ""], options, io) => {
  const answer = await ask({ path: `/${encodeURIComponent(name)}`, method: "DELETE" }, options, io);
  const { cancelled } = answer;
  if (options.json) await printJson(io.stdout, answer);
  else await print(io.stdout, cancelled === 0 ? "No run is unfinished." : `Cancelled runs: ${String(cancelled)}`);
  return EXIT.ok;
};

function ask(
  { path, ...request }: Omit<RunningHubRequest, "subject">,
  options: SharedOptions,
  io: Io,
): Promise<JsonObject> {
  const place = { path: `${SCHEDULES_PATH}${path}`, below: "base", subject: "Schedules run" } as const;
  return requestRunningHub({ ...request, ...place }, options, io);
}
