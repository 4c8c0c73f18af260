// Clients that read their answers slowly, or not at all.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BOB, LARGE_BYTES, RAW_ENDPOINTS, RawEndpoint, STALL_MS } from "./raw-endpoint.ts";

describe.each(RAW_ENDPOINTS)("with $workers process(es), $kind", (options) => {
  let endpoint: RawEndpoint;

  beforeAll(async () => {
    endpoint = await RawEndpoint.open(options);
  });
  afterEach(() => endpoint.disconnect());
  afterAll(() => endpoint[Symbol.asyncDispose]());

  /** Reads an answer in pieces with pauses of `pauseMs(piece)`; resolves with its bytes when no more come. */
  const readInPieces = (path: string, more: string, pauseMs: (bytes: number) => number): Promise<number> =>
    new Promise((resolve) => {
      const { socket } = endpoint.connect();
      let bytes = 0;
      socket.removeAllListeners("data").on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes >= LARGE_BYTES) return resolve(bytes);
        const ms = pauseMs(chunk.length);
        if (ms === 0) return;
        socket.pause();
        setTimeout(() => socket.resume(), ms);
      });
      socket.once("close", () => resolve(bytes));
      socket.write(`GET ${path} HTTP/1.1\r\n${BOB}${more}\r\n`);
    });
  // Each kind of answer once plain and once over TLS; `reader-watch.test.ts` has the rule.
  const [what, path] = options.workers === 1 ? ["a whole answer", "/large"] : ["an event stream", "/streamed"];
  const more = options.kind === "TLS" ? "" : "Connection: close\r\n";

  test(`a slow reader gets ${what}, in more than twice the time of a stall`, async () => {
    const until = performance.now() + 2.5 * STALL_MS;
    // About 16 MB a second, then as fast as it comes.
    const pauseMs = (bytes: number): number => (performance.now() < until ? bytes / 16_000 : 0);
    expect(await readInPieces(path!, more, pauseMs)).toBeGreaterThanOrEqual(LARGE_BYTES);
  });

  test(`a reader that stops does not get the rest of ${what}`, async () => {
    let pauses = 0;
    const bytes = await readInPieces(path!, more, () => (pauses++ === 0 ? 3 * STALL_MS : 0));
    expect(bytes).toBeLessThan(LARGE_BYTES);
  });
});
