import type { RequestId, RpcNotification } from "../../wire/messages.ts";

/** Receives the server's notifications about its lists and about subscribed resources. */
export interface Watcher {
  /** Replaces the watched URIs. Rejects with a `FailError` if the server refuses a new one. */
  watch(uris: ReadonlySet<string>): Promise<void>;
  /** Returns whether a resource change counts. One from a replaced stream does not. */
  accepts(notification: RpcNotification, related: RequestId | undefined): boolean;
  /** Handles a notification for the watcher itself, and returns whether it was one. */
  takes(notification: RpcNotification, related: RequestId | undefined): boolean;
  close(): void;
}
