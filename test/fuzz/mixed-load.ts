// Concurrent callers of every kind against one hub: successful calls, failing ones, crashing servers, hanging calls,
// callers that disconnect.
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import type { Random } from "../support/random.ts";

type Step = (client: RawClient, random: Random) => Promise<void>;

export interface Tally {
  readonly counts: Map<string, number>;
  calls: number;
}

async function call(client: RawClient, tally: Tally, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const reply = await client.request("tools/call", { name, arguments: args });
  const result = reply["result"] as { isError?: boolean; _meta?: JsonObject } | undefined;
  const kind = reply["error"]
    ? "error"
    : result?.isError
      ? String(result._meta?.["toolyard/kind"] ?? "tool_error")
      : "ok";
  tally.calls += 1;
  tally.counts.set(`${name} ${kind}`, (tally.counts.get(`${name} ${kind}`) ?? 0) + 1);
  return reply;
}

/** Returns the actions of a caller; frequent ones are repeated in the list. */
function stepsOf(tally: Tally): readonly Step[] {
  const plain: Step = async (client, random) => {
    const text = `t${random.below(1e6)}`;
    const reply = await call(client, tally, "echo", { text });
    if (!JSON.stringify(reply).includes(text)) throw new Error(`Somebody else's answer: ${JSON.stringify(reply)}`);
  };
  const on =
    (name: string, args: JsonObject = {}): Step =>
    async (client) =>
      void (await call(client, tally, name, args));
  const list: Step = async (client) => void (await client.list("tools/list", "tools"));
  const givenUp: Step = async (client) => {
    const stop = new AbortController();
    const asked = client.request("tools/call", { name: "sturdy__hang", arguments: {} }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await asked.catch(() => {});
    tally.calls += 1;
  };
  return [
    plain,
    plain,
    plain,
    on("sturdy__pid"),
    on("sturdy__pid"),
    on("sturdy__progress", { steps: 3 }),
    on("crashing__pid"),
    on("crashing__die"),
    on("fail"),
    on("shell"),
    on("no_such"),
    on("tool_search", { query: "say" }),
    list,
    givenUp,
  ];
}

export interface LoadOptions {
  readonly url: string;
  readonly workers: number;
  readonly untilMs: number;
  readonly maxCalls: number;
  readonly random: Random;
  readonly tally: Tally;
}

/**
 * Ends at a time of `performance.now()`, or after a number of calls. Each caller disconnects after a while, usually
 * without a message.
 */
export async function runMixedLoad({ url, workers, untilMs, maxCalls, random, tally }: LoadOptions): Promise<void> {
  const steps = stepsOf(tally);
  const isOver = (): boolean => performance.now() >= untilMs || tally.calls >= maxCalls;
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      const era = random.pick(["legacy", "modern"] as const);
      const wire = new HttpWire(url, era);
      const client = await RawClient.open(wire, { era });
      for (let left = 5 + random.below(40); left > 0 && !isOver(); left -= 1) await random.pick(steps)(client, random);
      if (random.below(3) === 0) await client.close();
      else wire.drop();
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
