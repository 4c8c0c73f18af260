import { setTimeout as pause } from "node:timers/promises";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, listMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { FailError } from "../../core/errors.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { EXIT } from "../failure.ts";
import { requestRunningHub, type RunningHubRequest } from "../hub-access/request-running-hub.ts";
import { fitToSchema } from "../input/arguments.ts";
import { print, printJson, printPainted, type Io } from "../output/io.ts";
import { plainLine, table } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

const POLL_MS = 500;

interface TaskWaitOptions extends SharedOptions {
  readonly timeout?: string;
}

/** Runs `toolyard tasks list`. */
export const list: CommandAction<SharedOptions> = async (_args, options, io) => {
  const body = await ask({ path: "/tasks" }, options, io);
  const tasks = listMember(body, "tasks").filter(isJsonObject);
  if (options.json) await printJson(io.stdout, tasks);
  else if (tasks.length === 0)
    await print(io.stdout, "You have no tasks at this hub. `toolyard call <tool> --task` starts one.");
  else {
    const rows = tasks.map((task) => COLUMNS.map((name) => stringMember(task, name) ?? ""));
    await printPainted(io.stdout, table(["id", "tool", "status", "message", "since"], rows, io));
  }
  return EXIT.ok;
};

const COLUMNS = ["id", "tool", "status", "statusMessage", "createdAt"] as const;

/** Runs `toolyard tasks show`. */
export const show: CommandAction<SharedOptions> = async ([id = ""], options, io) =>
  report(await ask({ path: `/tasks/${encodeURIComponent(id)}` }, options, io), options, io);

/** Runs `toolyard tasks wait`. A task that waits for input ends the wait, because this command cannot answer. */
export const wait: CommandAction<TaskWaitOptions> = async ([id = ""], options, io) => {
  const until =
    options.timeout === undefined ? Infinity : performance.now() + parseDuration(options.timeout, "--timeout");
  const question = { path: `/tasks/${encodeURIComponent(id)}` };
  for (;;) {
    const task = await ask(question, options, io);
    if (task["status"] !== "working") return report(task, options, io);
    if (performance.now() > until)
      throw new FailError(fail("timeout", `The task still runs after ${options.timeout}. It goes on.`));
    await pause(POLL_MS, undefined, { signal: io.interrupted });
  }
};

/** Runs `toolyard tasks cancel`. */
export const cancel: CommandAction<SharedOptions> = async ([id = ""], options, io) => {
  const task = await ask({ path: `/tasks/${encodeURIComponent(id)}`, method: "DELETE" }, options, io);
  if (options.json) await printJson(io.stdout, task);
  else await print(io.stdout, plainLine(`The task of ${String(task["tool"])} is ${String(task["status"])}.`));
  return EXIT.ok;
};

export interface TaskStart {
  readonly tool: string;
  readonly given: JsonObject;
  /** False if the values are text from the command line, which must be converted to the types in the tool's schema. */
  readonly isJson: boolean;
}

/** Runs `toolyard call --task`. */
export async function start({ tool, given, isJson }: TaskStart, options: SharedOptions, io: Io): Promise<number> {
  const path = `/tools/${encodeURIComponent(tool)}`;
  const args = isJson ? given : fitToSchema(given, (await ask({ path }, options, io))["inputSchema"]);
  return await begin({ path, body: args }, options, io);
}

/** Runs `toolyard chat --task`. */
export function startAnswer(question: JsonObject, options: SharedOptions, io: Io): Promise<number> {
  return begin({ path: "/chat", body: question }, options, io);
}

/** Starts a task, and prints its id. */
async function begin(
  { path, body }: { readonly path: string; readonly body: JsonObject },
  options: SharedOptions,
  io: Io,
): Promise<number> {
  const request = { path, method: "POST", body: stringifyExact(body), headers: { prefer: "respond-async" } } as const;
  const task = await ask(request, options, io);
  if (options.json) await printJson(io.stdout, task);
  else {
    await print(io.stdout, String(task["id"]));
    const command = ["toolyard tasks wait", String(task["id"]), ...hubFlags(options)].join(" ");
    await print(io.stderr, `\`${command}\` waits for the result.`);
  }
  return EXIT.ok;
}

/** Returns the options with which another command reaches the same hub. */
function hubFlags({ url, tokenEnv, config = [], found }: SharedOptions): readonly string[] {
  return [
    ...(found === true ? [] : config.map((file) => `--config ${shellWord(file)}`)),
    ...(url === undefined ? [] : [`--url ${shellWord(url)}`]),
    ...(tokenEnv === undefined ? [] : [`--token-env ${shellWord(tokenEnv)}`]),
  ];
}

async function report(task: JsonObject, options: SharedOptions, io: Io): Promise<number> {
  const { status, tool, statusMessage, result, error } = task;
  if (options.json) await printJson(io.stdout, task);
  else if (status === "completed" && task["isError"] !== true)
    await print(io.stdout, typeof result === "string" ? result : stringifyExact(result, 2));
  else {
    const message = typeof statusMessage === "string" ? `: ${statusMessage}` : "";
    await print(io.stdout, plainLine(`${String(tool)} is ${String(status)}${message}`));
    const details = status === "input_required" ? task["inputRequests"] : (error ?? result);
    if (details !== undefined) await print(io.stdout, stringifyExact(details, 2));
  }
  return status === "failed" || task["isError"] === true ? FAILED : EXIT.ok;
}

/** Exit code of a task whose tool failed. */
const FAILED = 1;

/**
 * Sends a REST request to the running hub. Rejects with a `FailError` if the hub returns an error or does not answer.
 */
function ask(request: Omit<RunningHubRequest, "subject">, options: SharedOptions, io: Io): Promise<JsonObject> {
  return requestRunningHub({ ...request, subject: "Tasks run" }, options, io);
}
