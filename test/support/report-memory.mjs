// Preloaded into a program under test: on SIGUSR2 it collects garbage and prints its memory use on stderr.
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  // The first collection may free objects that others hold.
  setImmediate(() => {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    process.stderr.write(
      `${JSON.stringify({ memoryReport: { heapUsed, rss, resources: process.getActiveResourcesInfo().length } })}\n`,
    );
  });
});
