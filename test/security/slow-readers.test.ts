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

  /** Reads an answer in pieces with pauses of `pauseMs(piece)`; resolves with its bytes when it has ended. */
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
  // Tests each kind of answer once without and once with TLS; `reader-watch.test.ts` describes the rule.
  const [what, path] = options.workers === 1 ? ["a whole answer", "/large"] : ["an event stream", "/streamed"];
  const more = options.kind === "TLS" ? "" : "Connection: close\r\n";

  test(`a slow reader gets ${what}, although that takes more than twice the stall time`, async () => {
    const until = performance.now() + 2.5 * STALL_MS;
    // About 16 MB per second at first, then as fast as data arrives.
    const pauseMs = (bytes: number): number => (performance.now() < until ? bytes / 16_000 : 0);
    expect(await readInPieces(path!, more, pauseMs)).toBeGreaterThanOrEqual(LARGE_BYTES);
  });

  test(`a reader that stops does not receive the rest of ${what}`, async () => {
    let pauses = 0;
    const bytes = await readInPieces(path!, more, () => (pauses++ === 0 ? 3 * STALL_MS : 0));
    expect(bytes).toBeLessThan(LARGE_BYTES);
  });
});
