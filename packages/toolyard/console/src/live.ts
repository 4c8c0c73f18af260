import { signal } from "@preact/signals";
import type { CallRecord, EventTypes, LogRecord } from "../../src/features/console/api-types.ts";
import { keyHeaders, readEvents, request } from "./api.ts";

const RETRY_MS = 2000;
/** Maximum number of calls and log lines that a page keeps. */
const MAX_KEPT = 1000;

/** Counts the changes of each part of the state; views read their data again when a number changes. */
export const changes = signal({ sources: 0, lists: 0, tasks: 0 });
export const liveCalls = signal<readonly CallRecord[]>([]);
export const liveLines = signal<readonly LogRecord[]>([]);
/** Number of calls and log lines that the hub did not send, because there were too many. */
export const skipped = signal(0);
export const isLive = signal(false);

/**
 * Follows the events of the hub until the page is closed. After a lost connection it continues after the last event.
 */
export async function followEvents(): Promise<void> {
  let lastId = "";
  for (;;) {
    // A broken stream is no fault: the next attempt reports whether the hub is back.
    const response = await openEvents(lastId).catch(() => undefined);
    if (response?.status === 401) return;
    if (response?.ok) await takeAll(response, (id) => (lastId = id)).catch(() => {});
    isLive.value = false;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function openEvents(lastId: string): Promise<Response> {
  return request("events", {
    headers: { ...keyHeaders(), accept: "text/event-stream", ...(lastId !== "" && { "last-event-id": lastId }) },
  });
}

async function takeAll(response: Response, onId: (id: string) => void): Promise<void> {
  isLive.value = true;
  for await (const { event, data, id } of readEvents(response)) {
    if (id !== undefined) onId(id);
    take(event as keyof EventTypes, data);
  }
}

let startedAt = "";

function take(event: keyof EventTypes, data: unknown): void {
  if (event === "hello") {
    const hello = data as EventTypes["hello"];
    // After a restart, the hub counts events from the start and its data may differ, so the page is loaded again.
    if (startedAt !== "" && startedAt !== hello.startedAt) location.reload();
    startedAt = hello.startedAt;
    const { sources, lists, tasks } = changes.value;
    changes.value = { sources: sources + 1, lists: lists + 1, tasks: tasks + 1 };
  } else if (event === "state") {
    const { what } = data as EventTypes["state"];
    changes.value = { ...changes.value, [what]: changes.value[what] + 1 };
  } else if (event === "call") liveCalls.value = [data as CallRecord, ...liveCalls.value].slice(0, MAX_KEPT);
  else if (event === "log") liveLines.value = [...liveLines.value, data as LogRecord].slice(-MAX_KEPT);
  else if (event === "figures") skipped.value = (data as EventTypes["figures"]).skipped;
}
