import { defineConfig } from "vitest/config";

export default defineConfig({
  // The package's own name resolves to its source, as it does to `dist` once it is installed.
  resolve: { alias: { "toolyard/manager": new URL("./src/manager.ts", import.meta.url).pathname, toolyard: new URL("./src/index.ts", import.meta.url).pathname } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    environment: "node",
    globalSetup: ["test/global-setup.ts"],
    // Built files are Node's own to load: its module hooks would not see what vitest imports.
    server: { deps: { external: [/\/dist\//u] } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    expect: { requireAssertions: true },
  },
});
