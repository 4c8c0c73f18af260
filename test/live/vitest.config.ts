// Order, and limits ten times wider than the goals of bench/README.md. CPU time is measured where other load would
// show.
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
