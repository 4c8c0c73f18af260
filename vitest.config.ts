import { defineConfig } from "vitest/config";

export default defineConfig({
  // The package's own names resolve to their sources, as they do to `dist` once it is installed.
  resolve: {
    alias: {
      "toolyard/agent": source("agent.ts"),
      "toolyard/bindings": source("bindings.ts"),
      "toolyard/client": source("client.ts"),
      "toolyard/core": source("core-server.ts"),
      "toolyard/embeddings": source("embeddings.ts"),
      "toolyard/gnn": new URL("./servers/gnn/index.ts", import.meta.url).pathname,
      "toolyard/library": new URL("./servers/library/index.ts", import.meta.url).pathname,
      "toolyard/manager": source("manager.ts"),
      "toolyard/script": source("runtimes/calling/node/toolyard/script/index.mjs"),
      "toolyard/web-search": source("web-search.ts"),
      toolyard: source("index.ts"),
    },
  },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    environment: "node",
    globalSetup: ["test/global-setup.ts"],
    // Built files are Node's own to load: its module hooks would not see what vitest imports.
    server: { deps: { external: [/\/dist\//u] } },
    // Against what hangs, not against what is slow: no outcome may depend on the machine's speed.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
    expect: { requireAssertions: true, poll: { interval: 20, timeout: 30_000 } },
  },
});

function source(path: string): string {
  return new URL(`./src/${path}`, import.meta.url).pathname;
}
