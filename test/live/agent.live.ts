import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgent } from "../../packages/toolyard/src/agent.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { toolsFile } from "../agent/tools-file.ts";

/** Variable with the key, and the model; `LIVE_<VENDOR>_MODEL` sets another model. */
const VENDORS = [
  ["openai", "OPENAI_API_KEY", "gpt-5.5"],
  ["anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-5"],
  ["mistral", "MISTRAL_API_KEY", "mistral-large-latest"],
  ["google", "GOOGLE_GENERATIVE_AI_API_KEY", "gemini-2.5-flash"],
  ["ollama", "LIVE_OLLAMA_MODEL", "qwen3"],
] as const;

let hub: LibraryHub;
beforeAll(async () => {
  hub = await createHub({ settings: { modules: { paths: [toolsFile] } }, logger: SILENT_LOGGER });
});
afterAll(() => hub?.close());

describe.each(VENDORS)("%s", (vendor, variable, fallback) => {
  const model = `${vendor}/${process.env[`LIVE_${vendor.toUpperCase()}_MODEL`] ?? fallback}`;
  const live = test.runIf(process.env[variable]);

  live.each([false, true])(
    "calls two tools concurrently or in sequence, and answers (streamed: %s)",
    async (isHeard) => {
      const pieces: string[] = [];
      const agent = createAgent({ model, hub });
      const { text, stopReason, steps, usage } = await agent.chat(
        "Use the tool add for both sums: what is 1234 + 4321, and what is 111 + 222? " +
          "Give both numbers without separators.",
        isHeard ? { onEvent: (event) => event.type === "text" && pieces.push(event.text) } : {},
      );
      expect(stopReason).toBe("final");
      expect(text).toContain("5555");
      expect(text).toContain("333");
      expect(steps.flatMap(({ calls }) => calls).filter(({ tool, ok }) => tool === "add" && ok)).toHaveLength(2);
      expect(usage.totalTokens).toBeGreaterThan(0);
      if (isHeard) expect(pieces.length).toBeGreaterThan(0);
    },
  );

  live("continues the conversation, also after a tool's failure", async () => {
    const agent = createAgent({ model, hub });
    expect(
      (await agent.chat("Call the tool fails once, and tell me in its words why it failed.")).text.toLowerCase(),
    ).toContain("fire");
    expect(
      (await agent.chat("Which tool did I ask you to call? Answer with its name alone.")).text.toLowerCase(),
    ).toContain("fails");
  });

  live("decides in JSON as well", async () => {
    const { text, steps } = await createAgent({ model, hub, strategy: "json" }).chat(
      "Use the tool add: what is 1234 + 4321? Give the number without separators.",
    );
    expect(text).toContain("5555");
    expect(steps[0]!.calls[0]).toMatchObject({ tool: "add", ok: true });
  });
});
