import type { RequestId, RpcNotification } from "../../wire/messages.ts";

/** Receives the server's notifications about its lists and about subscribed resources. */
export interface Watcher {
  /** Replaces the watched URIs. Rejects with a `FailError` if the server refuses a new one. */
  watch(uris: ReadonlySet<string>): Promise<void>;
  /** Returns whether a resource change must be reported. A change that arrives on a replaced stream is dropped. */
  accepts(notification: RpcNotification, related: RequestId | undefined): boolean;
  /** Handles a notification if it is only for the watcher. Returns whether it is. */
  takes(notification: RpcNotification, related: RequestId | undefined): boolean;
  close(): void;
}
