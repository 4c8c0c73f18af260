// Module with tools for tests of the console: they end when another tool releases them, ask, fail, and answer with
// hostile texts.
const waiting = new Map();

async function hold({ name }, { progress, signal }) {
  progress(1, 2, `holds ${name}`);
  await new Promise((resolve, reject) => {
    waiting.set(name, resolve);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  progress(2, 2, "goes on");
  return `${name} <img src=x onerror="globalThis.__attacked = 1"> \u202eevil`;
}

function release({ name }) {
  waiting.get(name)?.();
  return waiting.delete(name);
}

async function order(_args, { ask }) {
  const requestedSchema = {
    type: "object",
    properties: {
      dish: { type: "string", enum: ["soup", "<script>__attacked = 1</script>"] },
      count: { type: "integer" },
    },
    required: ["dish"],
  };
  const params = { mode: "form", message: "What do you <b>eat</b>?", requestedSchema };
  const { action, content } = await ask("elicitation/create", params);
  return `${action}: ${JSON.stringify(content ?? {})}`;
}

const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

export function registerTools(hub) {
  hub.registerTool("hold", hold, named, "Waits until `release` is called");
  hub.registerTool("release", release, named, "Lets `hold` end");
  hub.registerTool("order", order, { type: "object" }, "Asks what to eat");
  hub.registerTool("broken", () => Promise.reject(new Error("<i>no oven</i>")), { type: "object" }, "Fails");
}
