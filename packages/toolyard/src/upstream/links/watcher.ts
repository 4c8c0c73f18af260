import type { RequestId, RpcNotification } from "../../wire/messages.ts";

/** Keeps the server's notifications on: about its lists and about subscribed resources. */
export interface Watcher {
  /** Replaces the watched URIs. Rejects with a `FailError` if the server refuses a new one. */
  watch(uris: ReadonlySet<string>): Promise<void>;
  /** Returns whether a resource change counts; one from a replaced stream does not. */
  accepts(notification: RpcNotification, related: RequestId | undefined): boolean;
  /** Handles a notification that concerns the watcher itself; returns whether it did. */
  takes(notification: RpcNotification, related: RequestId | undefined): boolean;
  close(): void;
}
