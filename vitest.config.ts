import { defineConfig } from "vitest/config";

export default defineConfig({
  // The package's own name resolves to its source, as it does to `dist` once it is installed.
  resolve: { alias: { toolyard: new URL("./src/index.ts", import.meta.url).pathname } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    environment: "node",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    expect: { requireAssertions: true },
  },
});
