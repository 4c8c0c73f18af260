import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { withFileLock } from "../../files/file-lock.ts";
import { tryConnect } from "./connect.ts";
import { readGreeting, readWelcome, writeGreeting, type Hello } from "./greeting.ts";
import type { SharedPlace } from "./place.ts";

export interface JoinOptions {
  readonly place: SharedPlace;
  readonly hello: Hello;
  /** Starts a hub that will listen at the place. */
  readonly start: () => ChildProcess;
  readonly signal: AbortSignal;
}

export type JoinResult =
  | { readonly outcome: "joined"; readonly socket: Socket; readonly pid: number; readonly isNew: boolean }
  /** The hub at the place has another configuration. */
  | { readonly outcome: "refused"; readonly reason: string }
  /** There is no hub, and none could be started. */
  | { readonly outcome: "failed"; readonly reason: string };

/**
 * Milliseconds until a started hub must listen. It listens before its sources start, so a longer time indicates a
 * problem.
 */
const START_MS = 30_000;
const POLL_MS = 25;

/**
 * Joins the hub at a place, or starts one there and joins it. Only one process at a time does this, so that there is
 * one hub.
 */
export async function joinOrStart(options: JoinOptions): Promise<JoinResult> {
  const { place, signal } = options;
  const there = await tryJoin(options);
  if (there) return there;
  return withFileLock(place.lock, async () => (await tryJoin(options)) ?? startAndJoin(options), {
    waitMs: 2 * START_MS,
    signal,
  });
}

/**
 * Starts a hub and joins it. If the hub was killed during its start, starts it again; a hub that exited by itself would
 * exit again.
 */
async function startAndJoin(options: JoinOptions, isAgain = false): Promise<JoinResult> {
  const { place, start, signal } = options;
  const child = start();
  let ended: string | undefined;
  let wasKilled = false;
  child.once("error", (error) => (ended = error.message));
  child.once("exit", (code, name) => {
    ended ??= `it ended with ${name ?? `exit code ${code}`}`;
    wasKilled = name !== null;
  });
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    signal.throwIfAborted();
    const joined = await tryJoin(options);
    if (joined) return joined.outcome === "joined" ? { ...joined, isNew: true } : joined;
    if (wasKilled && !isAgain) return startAndJoin(options, true);
    if (ended !== undefined) return { outcome: "failed", reason: `${ended}; ${place.log} has details` };
    await pause(POLL_MS);
  }
  return { outcome: "failed", reason: `it does not listen after ${START_MS / 1000} s; see ${place.log}` };
}

/** Joins the hub. Resolves with `undefined` if no hub listens, or if it is ending. */
async function tryJoin({ place, hello }: JoinOptions): Promise<JoinResult | undefined> {
  const socket = await tryConnect(place.socket);
  if (!socket) return undefined;
  writeGreeting(socket, hello);
  const greeting = await readGreeting(socket);
  const welcome = typeof greeting === "string" ? undefined : readWelcome(greeting);
  if (welcome && "joined" in welcome) return { outcome: "joined", socket, pid: welcome.pid, isNew: false };
  socket.destroy();
  if (welcome) return { outcome: "refused", reason: welcome.refused };
  return greeting === "gone" ? undefined : { outcome: "failed", reason: "the hub that listens does not answer" };
}
