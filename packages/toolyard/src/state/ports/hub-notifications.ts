/** A notification from one hub to all. */
export type HubNotification =
  /** The session of that id is to end, wherever it is held. */
  { readonly type: "end-session"; readonly session: string };

/** Words from hub to hub. */
export interface HubNotifications {
  /** Reaches every hub of the store that listens now, this one too. Never throws. */
  publish(notification: HubNotification): void;
  /** Listens until the returned function is called. */
  on(listener: (notification: HubNotification) => void): () => void;
}
