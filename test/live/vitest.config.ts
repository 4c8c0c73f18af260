// Calls real models with real keys, so `npm test` never runs it: `npx vitest run --config test/live/vitest.config.ts`.
// Vendors without a configured key are skipped.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/live/*.live.ts"],
    environment: "node",
    testTimeout: 120_000,
    pool: "forks",
    expect: { requireAssertions: true },
  },
});
