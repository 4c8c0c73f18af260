import type { DoorFront, DoorHub } from "../door.ts";

/** What the REST door asks of the hub. */
export type RestHub = Pick<DoorHub, "list" | "call" | "facts" | "search" | "describeTool">;

export interface RestParts extends Pick<DoorFront, "logger" | "chat" | "defaultMode" | "hasTokens"> {
  readonly hub: RestHub;
}
