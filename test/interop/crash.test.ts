// A server that dies during calls: each call is answered immediately, and the next call is served.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { RawClient } from "../fixtures/raw/raw-client.ts";
import { serveHub, startChildServer } from "../fixtures/served-hub.ts";
import { pairingsOf, RICH_SCRIPT, serveRich, titleOf } from "./pass-through.ts";

/** Time limit far longer than an answer needs, and far shorter than any timeout. */
const AT_ONCE_MS = 2000;

const dying = (client: RawClient, name: "die" | "hang"): Promise<JsonObject> =>
  client.request("tools/call", { name, arguments: {}, _meta: { progressToken: name } });

async function timed<T>(work: Promise<T>): Promise<{ readonly value: T; readonly tookMs: number }> {
  const startedAt = performance.now();
  const value = await work;
  return { value, tookMs: performance.now() - startedAt };
}

const pidOf = async (client: RawClient): Promise<string> =>
  String(((await client.tool("pid"))["content"] as JsonObject[])[0]!["text"]);

const onStdio = [...pairingsOf("HTTP"), ...pairingsOf("stdio")].filter(({ transport }) => transport === "stdio");

describe.each(onStdio.map((pairing) => [titleOf(pairing), pairing] as const))("%s", (title, pairing) => {
  test(`${title}: answers running calls immediately when the child dies, and serves the next`, async () => {
    await using hub = await serveRich(pairing);
    const client = await hub.connect({ era: pairing.client });
    const before = await pidOf(client);
    const started = client.next("notifications/progress");
    const bystander = dying(client, "hang");
    await started;
    const { value: replies, tookMs } = await timed(Promise.all([dying(client, "die"), bystander]));
    expect(tookMs).toBeLessThan(AT_ONCE_MS);
    for (const reply of replies)
      expect(reply["result"]).toMatchObject({ isError: true, _meta: { "toolyard/kind": "unavailable" } });
    const { value: after, tookMs: servedMs } = await timed(pidOf(client));
    expect(after).not.toBe(before);
    expect(servedMs).toBeLessThan(AT_ONCE_MS);
  });
});

describe.each(["legacy", "modern"] as const)("%s server on HTTP", (upstream) => {
  test.each(["legacy", "modern"] as const)(
    `%s client (HTTP) × ${upstream} server (HTTP): running calls end when the server dies, later ones work`,
    async (era) => {
      const command = [process.execPath, RICH_SCRIPT, upstream, "http"];
      await using server = await startChildServer(command);
      await using hub = await serveHub(
        { mcp: { remote_servers: [{ alias: "rich", url: server.url, namespace: "" }] } },
        "HTTP",
      );
      const client = await hub.connect({ era });
      const before = await pidOf(client);
      const started = client.next("notifications/progress");
      const bystander = dying(client, "hang");
      await started;
      const { value: replies, tookMs } = await timed(Promise.all([dying(client, "die"), bystander]));
      expect(tookMs).toBeLessThan(AT_ONCE_MS);
      for (const reply of replies)
        expect(reply["result"]).toMatchObject({ isError: true, _meta: { "toolyard/kind": "unavailable" } });
      await using back = await startChildServer([...command, new URL(server.url).port]);
      expect(back.url).toBe(server.url);
      expect(await pidOf(client)).not.toBe(before);
    },
  );
});
