// Preloaded into a program under test: on SIGUSR2 it collects and says on stderr what it holds on to.
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  // What the first collection let go of may hold others.
  setImmediate(() => {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    process.stderr.write(
      `${JSON.stringify({ memoryReport: { heapUsed, rss, resources: process.getActiveResourcesInfo().length } })}\n`,
    );
  });
});
