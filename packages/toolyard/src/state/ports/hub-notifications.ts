/** Notification that one hub sends to all hubs of a store. */
export type HubNotification =
  /** The session with this id must end, on the hub that holds it. */
  { readonly type: "end-session"; readonly session: string };

/** Notifications between hubs. */
export interface HubNotifications {
  /** Sends a notification to all hubs of the store that are listening, including this one. Never throws. */
  publish(notification: HubNotification): void;
  /** Adds a listener. The returned function removes it. */
  on(listener: (notification: HubNotification) => void): () => void;
}
