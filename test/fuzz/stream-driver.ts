// Endpoints with answers on one stream, apart from the requests: replies are counted and matched in rounds.
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SseDecoder } from "../../packages/toolyard/src/wire/sse.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { ServeChild } from "../support/serve-child.ts";
import { cut, makeCase, type Era } from "./cases.ts";
import { judge, parseMessages, post, replyIds } from "./http-driver.ts";
import { compare, countOf, expectedOf, join, type ExpectedReplies, type Id } from "./oracle.ts";

const PATIENCE_MS = 20_000;
const CASES_A_ROUND = 40;

/** Matches replies with the expected ones as they arrive. */
class Ledger {
  #expected: ExpectedReplies[] = [];
  #ids: Id[] = [];
  #wake: () => void = () => {};
  #pings = 0;

  expect(expected: ExpectedReplies): void {
    this.#expected.push(expected);
  }

  take(messages: readonly JsonObject[]): void {
    this.#ids.push(...replyIds(messages));
    this.#wake();
  }

  /** Returns a ping. Its reply shows that no further messages were on the way. */
  nextPing(): JsonObject {
    this.#pings += 1;
    const id = `ping ${this.#pings}`;
    this.expect({ requests: [id], invalid: [] });
    return { jsonrpc: "2.0", id, method: "ping" };
  }

  async settle(where: string): Promise<void> {
    const expected = join(this.#expected);
    const wanted = countOf(expected);
    const until = performance.now() + PATIENCE_MS;
    while (this.#ids.length < wanted && performance.now() < until) {
      await Promise.race([
        new Promise<void>((resolve) => (this.#wake = resolve)),
        new Promise((resolve) => setTimeout(resolve, 500).unref()),
      ]);
    }
    const problem = compare(expected, this.#ids);
    this.#expected = [];
    this.#ids = [];
    if (problem !== undefined) throw new Error(`${where}: ${problem}`);
  }
}

interface Round {
  readonly seed: number;
  readonly random: Random;
  readonly size: number;
}

async function inRounds(cases: number, seed: number, run: (round: Round) => Promise<void>): Promise<void> {
  for (let done = 0; done < cases; done += CASES_A_ROUND) {
    await run({ seed: seed + done, random: createRandom(seed + done), size: Math.min(CASES_A_ROUND, cases - done) });
  }
}

const HANDSHAKE = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "f", version: "1" } };

/** Writes lines to standard input, several in one write or one in several, in both eras. */
export class StdioDriver {
  readonly #served: ServeChild;
  readonly #ledger = new Ledger();
  #rest = "";

  constructor(served: ServeChild) {
    this.#served = served;
    served.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (this.#rest + chunk).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#ledger.take(lines.flatMap(parseMessages));
    });
  }

  async run(cases: number, seed: number): Promise<void> {
    await this.#write([
      Buffer.from(
        `${JSON.stringify({ jsonrpc: "2.0", id: `open ${seed}`, method: "initialize", params: HANDSHAKE })}\n`,
      ),
    ]);
    this.#ledger.expect({ requests: [`open ${seed}`], invalid: [] });
    await inRounds(cases, seed, async (round) => {
      await this.#write(cut(this.#lines(round), round.random));
      await this.#write([Buffer.from(`${JSON.stringify(this.#ledger.nextPing())}\n`)]);
      await this.#ledger.settle(`stdio, round of seed ${round.seed}`);
    });
  }

  #lines({ seed, random, size }: Round): Buffer {
    const parts: Buffer[] = [];
    for (let at = 0; at < size; at += 1) {
      const { bytes } = makeCase(random.pick<Era>(["legacy", "modern"]), seed + at, random);
      const end = Buffer.from(random.pick(["\n", "\n", "\r\n", "\n\n", "\n  \r\n"]));
      const line = Buffer.concat([bytes, end]);
      for (const text of line.toString("latin1").split("\n").slice(0, -1))
        this.#expectLine(Buffer.from(text, "latin1"));
      parts.push(line);
    }
    return Buffer.concat(parts);
  }

  #expectLine(bytes: Buffer): void {
    const text = bytes.toString("utf8").trim();
    if (text !== "") this.#ledger.expect(expectedOf(text));
  }

  async #write(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces)
      await new Promise<void>(
        (resolve, reject) => void this.#served.stdin.write(piece, (error) => (error ? reject(error) : resolve())),
      );
  }
}

/** HTTP+SSE of 2024-11-05: messages are posted, and answers arrive on one stream. */
export class SseDriver {
  readonly #base: string;
  readonly #ledger = new Ledger();
  readonly #closing = new AbortController();
  #endpoint = "";

  /** @param url address of the MCP endpoint */
  constructor(url: string) {
    this.#base = url.replace(/\/mcp$/, "");
  }

  async open(): Promise<void> {
    const response = await fetch(`${this.#base}/sse`, {
      headers: { accept: "text/event-stream" },
      signal: this.#closing.signal,
    });
    await new Promise<void>((resolve) => {
      const decoder = new SseDecoder(64 * 1024 * 1024, {
        onEvent: ({ event, data }) => {
          if (event !== "endpoint") return this.#ledger.take(parseMessages(data));
          this.#endpoint = new URL(data, this.#base).href;
          resolve();
        },
      });
      void this.#read(response.body as unknown as AsyncIterable<Uint8Array>, decoder);
    });
    await this.#post([
      Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "open", method: "initialize", params: HANDSHAKE })),
    ]);
    this.#ledger.expect({ requests: ["open"], invalid: [] });
  }

  async run(cases: number, seed: number): Promise<void> {
    await inRounds(cases, seed, async ({ seed: first, random, size }) => {
      for (let at = 0; at < size; at += 1) {
        const { bytes } = makeCase("legacy", first + at, random);
        const answer = await this.#post(random.below(4) > 0 ? [bytes] : cut(bytes, random));
        // 202: the answers arrive on the stream. Otherwise the response is the only answer.
        if (answer.status === 202) this.#ledger.expect(expectedOf(bytes.toString()));
        else if (judge(answer, bytes) !== undefined)
          throw new Error(`SSE, seed ${first} case ${at}: ${judge(answer, bytes)}: ${answer.text.slice(0, 300)}`);
      }
      await this.#post([Buffer.from(JSON.stringify(this.#ledger.nextPing()))]);
      await this.#ledger.settle(`SSE, round of seed ${first}`);
    });
  }

  close(): void {
    this.#closing.abort();
  }

  #post(pieces: readonly Buffer[]): ReturnType<typeof post> {
    return post(this.#endpoint, pieces, { "content-type": "application/json" });
  }

  async #read(body: AsyncIterable<Uint8Array>, decoder: SseDecoder): Promise<void> {
    try {
      for await (const chunk of body) decoder.push(Buffer.from(chunk));
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
    }
  }
}
