// The tools that the agent's tests use, as a module of a hub.
const numbers = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };

/** A picture of one red dot. */
export const RED_DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

// The hub loads a module under its own address, so the test shares values with it through a global.
const shared = (globalThis[Symbol.for("agent-tools")] ??= {
  load: { now: 0, most: 0 },
  hanging: { started: () => {}, ended: () => {} },
});
/** Number of calls that run now, and its maximum so far. */
export const load = shared.load;
/** Called at the start and at the end of each call of `hang`. */
export const hanging = shared.hanging;

// oxlint-disable-next-line toolyard/test-length -- One tool after another.
export function registerTools(hub) {
  hub.registerTool("add", ({ a, b }) => a + b, numbers, "Adds two numbers");
  hub.registerTool("item", (args) => args, { id: { type: "integer", maximum: 2n ** 64n } }, "Finds an item");
  hub.registerTool("say", ({ text }) => text, { text: { type: "string" } }, "Returns a text");
  hub.registerTool(
    "picture",
    () => ({
      content: [
        { type: "text", text: "a dot" },
        { type: "image", data: RED_DOT, mimeType: "image/png" },
      ],
    }),
    {},
    "Draws a red dot",
  );
  hub.registerTool(
    "fails",
    () => {
      throw new Error("the printer is on fire");
    },
    {},
    "Fails",
  );
  hub.registerTool(
    "slow.step",
    async () => {
      load.now += 1;
      load.most = Math.max(load.most, load.now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      load.now -= 1;
      return "done";
    },
    {},
    "Takes a moment",
  );
  hub.registerTool(
    "hang",
    (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener(
          "abort",
          () => {
            hanging.ended();
            reject(signal.reason);
          },
          { once: true },
        );
        hanging.started();
      }),
    {},
    "Waits until it is cancelled",
  );
  hub.registerTool(
    "search_chunks",
    ({ query, limit = 10, author_filter: author }) => ({
      results: Array.from({ length: Math.min(limit, 3) }, (_, index) => ({
        text: `${query} ${index}`,
        similarity: 0.9 - index / 10,
        work_author: author,
      })),
      total_count: Math.min(limit, 3),
    }),
    {
      type: "object",
      properties: {
        query: { type: "string" },
        limit: { type: "integer", default: 10 },
        author_filter: { type: "string" },
      },
      required: ["query"],
    },
    "Search for text chunks using semantic similarity",
  );
}
