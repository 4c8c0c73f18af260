/** Notification that one hub sends to all hubs of a store. */
export type HubNotification =
  /** The session with this id must end, on the hub that holds it. */
  | { readonly type: "end-session"; readonly session: string }
  /** A resource was changed, as a source reported to the sending hub; `uri` is the one that callers know. */
  | {
      readonly type: "resource-updated";
      readonly hub: string;
      readonly update: ResourceChange;
    }
  /**
   * Access tokens have ended. `tokens`: their digests (SHA-256, hexadecimal), separated by spaces. Empty: the rights of
   * any token may have changed.
   */
  | { readonly type: "access-ended"; readonly tokens: string }
  /** A hub has changed a sign-in to a server. */
  | { readonly type: "vault-changed" }
  /** The sending hub has started with a configuration, or has reloaded it. */
  | { readonly type: "configuration"; readonly hub: string; readonly digest: string };

/** Update of one resource as plain data. */
export interface ResourceChange {
  readonly uri: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Notifications between hubs. */
export interface HubNotifications {
  /** Sends a notification to all hubs of the store that are listening, including this one. Never throws. */
  publish(notification: HubNotification): void;
  /** Adds a listener. The returned function removes it. */
  on(listener: (notification: HubNotification) => void): () => void;
}
