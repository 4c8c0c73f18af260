import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as agent from "../../packages/toolyard/src/agent.ts";
import * as bindings from "../../packages/toolyard/src/bindings.ts";
import * as client from "../../packages/toolyard/src/client.ts";
import * as embeddings from "../../packages/toolyard/src/embeddings.ts";
import * as manager from "../../packages/toolyard/src/manager.ts";
import * as webSearch from "../../packages/toolyard/src/web-search.ts";

// Exports are public API. A new one must be added here as well.
test.each([
  [
    "agent",
    agent,
    [
      "Agent",
      "FailError",
      "LLMAgent",
      "LLMWithMCPTools",
      "OptionError",
      "createAgent",
      "fromAnthropicToolCall",
      "fromGoogleToolCall",
      "fromMistralToolCall",
      "fromOpenAIToolCall",
      "toAiSdkTools",
      "toAnthropicTools",
      "toGoogleTools",
      "toMistralTools",
      "toOpenAITools",
      "toResultText",
    ],
  ],
  [
    "bindings",
    bindings,
    [
      "HubMCPBinding",
      "LocalMCPBinding",
      "LollmsMCPBinding",
      "LollmsMCPBindingManager",
      "RemoteMCPBinding",
      "StandardMCPBinding",
    ],
  ],
  ["client", client, ["FailError", "MCPClient", "OptionError"]],
  ["embeddings", embeddings, ["loadEmbedder", "similarity"]],
  ["manager", manager, ["DEFAULT_REGISTRY", "MCPManager", "TOOL_ALIASES"]],
  ["web-search", webSearch, ["createWebSearch"]],
])("toolyard/%s has exactly these exports, which the package contains", (name, namespace, values) => {
  expect(Object.keys(namespace).toSorted()).toEqual(values);
  const { exports } = JSON.parse(
    readFileSync(new URL("../../packages/toolyard/package.json", import.meta.url), "utf8"),
  ) as {
    exports: Record<string, unknown>;
  };
  expect(exports[`./${name}`]).toEqual({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
});
