// Preloaded into a tested program: on SIGUSR2 it collects garbage and prints its memory use on stderr.
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  // Objects that the first collection releases may have kept others alive until the second collection.
  setImmediate(() => {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    process.stderr.write(
      `${JSON.stringify({ memoryReport: { heapUsed, rss, resources: process.getActiveResourcesInfo().length } })}\n`,
    );
  });
});
