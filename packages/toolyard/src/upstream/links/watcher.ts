import type { RequestId, RpcNotification } from "../../wire/messages.ts";

/** Keeps a server telling us of changes: of its lists, and of the resources that somebody subscribed to. */
export interface Watcher {
  /** From now on these URIs, and no others. Rejects with a `FailError` when the server refuses one that is new. */
  watch(uris: ReadonlySet<string>): Promise<void>;
  /** Whether a resource's change counts; one that came by a stream which was replaced meanwhile does not. */
  accepts(notification: RpcNotification, related: RequestId | undefined): boolean;
  /** A notification that is the watcher's own business; `true` when it was. */
  takes(notification: RpcNotification, related: RequestId | undefined): boolean;
  close(): void;
}
