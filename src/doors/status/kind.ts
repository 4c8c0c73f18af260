import { defineDoor } from "../door.ts";

/** `GET /status`. It has no options: there is nothing in it that its callers may not know. */
export const STATUS = defineDoor({
  schema: {},
  resolve: () => ({}),
  open: async (_options, { hub }) => new (await import("./status-door.ts")).StatusDoor(hub),
});
