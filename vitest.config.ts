import { configDefaults, defineConfig } from "vitest/config";
import type { InlineConfig } from "vitest/node";
import { PROJECTS } from "./scripts/tiers.mjs";

/** One more than the usual machine has cores: a test that waits leaves its core to others. */
const WORKERS = 3;

/** Names of the packages resolve to their sources, as they resolve to `dist` once the packages are installed. */
const resolve = {
  alias: [
    ...Object.entries({
      "toolyard/agent": source("agent.ts"),
      "toolyard/bindings": source("bindings.ts"),
      "toolyard/client": source("client.ts"),
      "toolyard/core": source("core-server.ts"),
      "toolyard/embeddings": source("embeddings.ts"),
      "toolyard/extras": source("extras.ts"),
      "toolyard/gnn": path("packages/gnn/src/index.ts"),
      "toolyard/library": path("packages/library/src/index.ts"),
      "toolyard/manager": source("manager.ts"),
      "toolyard/script": source("runtimes/calling/node/toolyard/script/index.mjs"),
      "toolyard/text": source("text.ts"),
      "toolyard/web-search": source("web-search.ts"),
      toolyard: source("index.ts"),
    }).map(([name, replacement]) => ({ find: new RegExp(`^${name}$`, "u"), replacement })),
    { find: /^toolyard\/service\/(.+)$/u, replacement: `${path("packages/toolyard/servers/shared")}/$1.ts` },
    { find: /^@toolyard\/(gnn|library)$/u, replacement: `${path("packages")}/$1/src/index.ts` },
    { find: /^@toolyard\/(gnn|library)\/(?!package\.json)(.+)$/u, replacement: `${path("packages")}/$1/src/$2.ts` },
  ],
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

/** Unit tests share a few processes, so that each loads a source once. A file that leaves anything behind fails. */
const SHARED: InlineConfig = { isolate: false, setupFiles: ["test/nothing-left.ts"] };

// The projects are the tiers of test/tiers.json. A unit test that measures its whole process is listed as `alone`.
export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    maxWorkers: WORKERS,
    projects: Object.entries(PROJECTS).map(([name, { include, exclude }]) => ({
      resolve,
      test: {
        ...everywhere,
        ...(name === "unit" ? SHARED : {}),
        name,
        include,
        exclude: [...configDefaults.exclude, ...exclude],
      },
    })),
  },
});

function source(file: string): string {
  return path(`packages/toolyard/src/${file}`);
}

function path(file: string): string {
  return new URL(`./${file}`, import.meta.url).pathname;
}
