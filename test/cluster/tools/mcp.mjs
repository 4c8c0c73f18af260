// Tools of the hubs in the tests of several hubs. `COUNTS` names a file to which each execution appends one line.
import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const KEYED = { type: "object", properties: { key: { type: "string" } }, required: ["key"] };

function count(key) {
  appendFileSync(process.env.COUNTS, `${key}\n`);
}

export function registerTools(hub) {
  hub.registerTool("echo", ({ key }) => `echo ${key}`, KEYED, "Returns the key.", {
    annotations: { readOnlyHint: true },
  });
  hub.registerTool("count", ({ key }) => (count(key), `counted ${key}`), KEYED, "Records the key.");
  hub.registerTool(
    "greet",
    async ({ key }, context) => {
      const { content } = await context.ask("elicitation/create", {
        message: `Who is ${key}?`,
        requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      });
      count(key);
      return `Hello ${content.name}, ${key}`;
    },
    KEYED,
    "Asks for a name.",
  );
  hub.registerTool(
    "steps",
    async ({ key }, context) => {
      for (let step = 1; step <= 5; step += 1) {
        context.progress(step, 5, `${key} ${step}`);
        await delay(10);
      }
      count(key);
      return `done ${key}`;
    },
    KEYED,
    "Reports progress.",
  );
  hub.registerTool(
    "wait",
    async ({ key }, context) => {
      context.progress(1, 2, `${key} waits`);
      count(`start ${key}`);
      await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
      count(`cancelled ${key}`);
    },
    KEYED,
    "Waits until it is cancelled.",
  );
  hub.registerTool(
    "pause",
    async ({ key }) => {
      count(`start ${key}`);
      await delay(1000);
      return `paused ${key}`;
    },
    KEYED,
    "Waits a second.",
    { annotations: { readOnlyHint: true } },
  );
  registerLarge(hub);
  hub.registerTool("touch", () => (hub.resourceUpdated("test://thing"), "touched"), {}, "Changes the resource.");
  hub.registerTool("pid", () => String(process.pid), {}, "Returns the process id.", {
    annotations: { readOnlyHint: true },
  });
  hub.registerResource("test://thing", () => ({ value: 1 }), "A thing.");
}

function registerLarge(hub) {
  hub.registerTool("large", ({ key }) => key.repeat(1_000_000 / key.length), KEYED, "Returns a megabyte.", {
    annotations: { readOnlyHint: true },
  });
  hub.registerTool(
    "stream",
    async ({ key }, context) => {
      for (let step = 1; step <= 64; step += 1) {
        context.progress(step, 64, key.repeat(16_384 / key.length));
        await delay(5);
      }
      return `streamed ${key}`;
    },
    KEYED,
    "Reports progress with a megabyte of messages.",
  );
}
