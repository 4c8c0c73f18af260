import { setTimeout as pause } from "node:timers/promises";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, listMember, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { isFailKind } from "../../core/calls/kinds.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { EXIT } from "../failure.ts";
import { hubAddress } from "../hub-access/hub-address.ts";
import { askHub, type HubQuestion } from "../hub-access/query-hub.ts";
import { wantsToken } from "../hub-access/session.ts";
import { fitToSchema } from "../input/arguments.ts";
import { print, printJson, printPainted, type Io } from "../output/io.ts";
import { plainLine, table } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

const ANSWER_WITHIN_MS = 10_000;
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
  const request = { path, method: "POST", body: stringifyExact(args), headers: { prefer: "respond-async" } } as const;
  const task = await ask(request, options, io);
  if (options.json) await printJson(io.stdout, task);
  else {
    await print(io.stdout, String(task["id"]));
    await print(io.stderr, `\`toolyard tasks wait ${String(task["id"])}\` waits for the result.`);
  }
  return EXIT.ok;
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

interface TaskQuestion extends Pick<HubQuestion, "method" | "headers" | "body"> {
  /** Path below the REST endpoint. */
  readonly path: string;
}

/** Sends a request to REST at the running hub. Rejects with a `FailError` for an error and for no answer. */
async function ask({ path, ...request }: TaskQuestion, options: SharedOptions, io: Io): Promise<JsonObject> {
  const { rest, token } = await hubAddress(options, io);
  const url = new URL(`${rest}${path}`);
  const { status, json } = await answered({ ...request, url, token, timeoutMs: ANSWER_WITHIN_MS }, io);
  if (status === 401) throw new FailError(wantsToken(url.origin, token !== undefined));
  if (status < 300 && isJsonObject(json)) return json;
  throw new FailError(
    failureIn(json) ?? fail("malformed", `${url.href} answered HTTP ${status}. Is it a toolyard hub?`),
  );
}

async function answered(question: HubQuestion, io: Io): ReturnType<typeof askHub> {
  try {
    return await askHub(question, io);
  } catch (error) {
    if (io.interrupted.aborted || error instanceof FailError) throw error;
    const advice = "Tasks run at a hub that is running: start one with `toolyard serve`, or name another with --url.";
    const { origin } = question.url;
    throw new FailError(fail("unavailable", `No hub answers at ${origin}: ${messageOf(error)}. ${advice}`));
  }
}

function failureIn(json: unknown): Fail | undefined {
  const error = isJsonObject(json) ? objectMember(json, "error") : undefined;
  const kind = error && stringMember(error, "kind");
  if (!error || kind === undefined || !isFailKind(kind)) return undefined;
  return fail(kind, stringMember(error, "message") ?? "The hub gave no reason.");
}
