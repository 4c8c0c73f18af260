import { createHash } from "node:crypto";
import { mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CALLBACK_PATH } from "../core/ports/sign-in-coordinator.ts";
import { PRIVATE_MODE, writeWhole } from "../files/write-whole.ts";
import type { Handlers, OpenPlace } from "./redirect.ts";

/** Interval at which a command checks whether its browser has returned. */
const LOOK_MS = 300;
const GOOD_FOR_MS = 600_000;
const MAX_QUERY_CHARS = 16 * 1024;

/**
 * Lets a running hub receive the browser's redirect for a command that uses the same data folder. The command creates a
 * file named after a digest of its state, and the hub writes the authorization response there. The response is useless
 * without the PKCE verifier, which never leaves the command.
 */
export function handoverPlace(folder: string, address: string, signal: AbortSignal): OpenPlace {
  return async ({ onRedirect }) => {
    let path: string | undefined;
    return {
      uri: `${address}${CALLBACK_PATH}`,
      at: (page) => `${address}${page}`,
      expects: async (state) => {
        path = fileOf(folder, state);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await (await open(path, "w", PRIVATE_MODE)).close();
        void takeFrom(path, signal, onRedirect);
      },
      close: async () => {
        if (path !== undefined) await rm(path, { force: true });
      },
    };
  };
}

/** Passes an authorization response to the command that waits for it. Resolves with false if no command waits. */
export async function handOver(folder: string, query: URLSearchParams): Promise<boolean> {
  const path = fileOf(folder, query.get("state") ?? "");
  const waiting = await stat(path).catch(() => undefined);
  const text = query.toString();
  const isWaiting = waiting?.size === 0 && Date.now() - waiting.mtimeMs < GOOD_FOR_MS;
  if (!isWaiting || text.length > MAX_QUERY_CHARS) return false;
  await writeWhole(path, text);
  return true;
}

/** Returns the path of the file. The name is a digest, because the state alone identifies the sign-in. */
function fileOf(folder: string, state: string): string {
  return join(folder, `waiting-${createHash("sha256").update(state).digest("hex").slice(0, 32)}`);
}

async function takeFrom(path: string, signal: AbortSignal, onRedirect: Handlers["onRedirect"]): Promise<void> {
  const query = await waitFor(path, signal);
  if (query) await onRedirect(new URLSearchParams(query));
}

async function waitFor(path: string, signal: AbortSignal): Promise<string | undefined> {
  const until = performance.now() + GOOD_FOR_MS;
  while (!signal.aborted && performance.now() < until) {
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text === undefined || text !== "") return text;
    // The timer keeps the process alive, because without a terminal the command waits for nothing else.
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  return undefined;
}
