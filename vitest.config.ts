import { configDefaults, defineConfig } from "vitest/config";
import type { InlineConfig } from "vitest/node";

/** One more than the usual machine has cores: a test that waits leaves its core to others. */
const WORKERS = 3;
/** What weighs its whole process has one of its own. */
const WEIGHING = ["src/core/gathered-bytes.test.ts", "src/endpoints/mcp/legacy/http.test.ts"];

/** The package's own names resolve to their sources, as they do to `dist` once it is installed. */
const resolve = {
  alias: {
    "toolyard/agent": source("agent.ts"),
    "toolyard/bindings": source("bindings.ts"),
    "toolyard/client": source("client.ts"),
    "toolyard/core": source("core-server.ts"),
    "toolyard/embeddings": source("embeddings.ts"),
    "toolyard/extras": source("extras.ts"),
    "toolyard/gnn": new URL("./servers/gnn/index.ts", import.meta.url).pathname,
    "toolyard/library": new URL("./servers/library/index.ts", import.meta.url).pathname,
    "toolyard/manager": source("manager.ts"),
    "toolyard/script": source("runtimes/calling/node/toolyard/script/index.mjs"),
    "toolyard/web-search": source("web-search.ts"),
    toolyard: source("index.ts"),
  },
};

const everywhere: InlineConfig = {
  environment: "node",
  // Built files are Node's own to load: its module hooks would not see what vitest imports.
  server: { deps: { external: [/\/dist\//u] } },
  // Against what hangs, not against what is slow: no outcome may depend on the machine's speed.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  pool: "forks",
  expect: { requireAssertions: true, poll: { interval: 20, timeout: 30_000 } },
};

// Unit tests load the same sources again and again, which takes longer than most of them. They share a few processes,
// so each source is loaded once in each, and a file that leaves anything behind for the next one fails.
export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    maxWorkers: WORKERS,
    projects: [
      {
        resolve,
        test: { ...everywhere, name: "alone", include: ["test/**/*.test.ts", ...WEIGHING] },
      },
      {
        resolve,
        test: {
          ...everywhere,
          name: "shared",
          include: ["src/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...WEIGHING],
          isolate: false,
          setupFiles: ["test/nothing-left.ts"],
        },
      },
    ],
  },
});

function source(path: string): string {
  return new URL(`./src/${path}`, import.meta.url).pathname;
}
