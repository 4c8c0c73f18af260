import { setTimeout as pause } from "node:timers/promises";
import { codeOf, FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { tryConnect } from "./connect.ts";
import { readGreeting, writeGreeting, type HubCommand } from "./greeting.ts";
import type { SharedPlace } from "./place.ts";

/** Maximum size of an answer, far above the status of any hub. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Milliseconds until a hub must have ended. Running calls and stdio servers have 15 s together by default. */
const STOP_MS = 60_000;
const POLL_MS = 50;

/** Facts about a running hub, from its answer to a command. */
export interface RunningHub {
  readonly pid: number;
  /** Configuration files of the hub. */
  readonly files: readonly string[];
  readonly clients: number;
  readonly isBesideHttp: boolean;
}

export interface RunningHubAnswer extends RunningHub {
  readonly body: JsonObject;
}

/**
 * Sends a command to the hub at a place. Resolves with its answer, or with `undefined` if no hub listens there. Rejects
 * if the hub does not answer.
 */
export async function askRunning(place: SharedPlace, command: HubCommand): Promise<RunningHubAnswer | undefined> {
  const socket = await tryConnect(place.socket);
  if (!socket) return undefined;
  try {
    writeGreeting(socket, { command });
    const body = await readGreeting(socket, MAX_ANSWER_BYTES);
    // The hub closed the connection without an answer, because it is ending.
    if (body === "gone") return undefined;
    const facts = body === "silent" ? undefined : body["shared"];
    if (body !== "silent" && isJsonObject(facts)) return { body, ...readFacts(facts) };
    throw new FailError(
      fail("unavailable", `The shared hub at ${place.socket} does not answer. ${place.log} has details.`),
    );
  } finally {
    socket.destroy();
  }
}

function readFacts({ pid, files, clients, isBesideHttp }: JsonObject): RunningHub {
  return {
    pid: Number(pid),
    files: Array.isArray(files) ? files.map(String) : [],
    clients: Number(clients),
    isBesideHttp: isBesideHttp === true,
  };
}

/** Resolves to true if the process ends within the limit. Rejects if the signal is aborted. */
export async function hasEnded(pid: number, signal: AbortSignal, limitMs = STOP_MS): Promise<boolean> {
  const until = performance.now() + limitMs;
  while (isAlive(pid)) {
    if (performance.now() > until) return false;
    await pause(POLL_MS, undefined, { signal });
  }
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
