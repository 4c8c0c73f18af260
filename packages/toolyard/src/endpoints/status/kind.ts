import { defineDoor } from "../door.ts";
import { STATUS_PATH } from "../paths.ts";

/** `GET /status`. It has no options: there is nothing in it that its callers may not know. */
export const STATUS = defineDoor({
  schema: {},
  paths: [STATUS_PATH],
  resolve: () => ({}),
  open: async (_options, front) => new (await import("./status-door.ts")).StatusDoor(front),
});
