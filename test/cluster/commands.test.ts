// Commands of the CLI on the sign-in state in a store.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RedisConnection } from "../../packages/toolyard/src/state/redis/connection.ts";
import { createClient, type RedisLibrary } from "../../packages/toolyard/src/state/redis/client.ts";
import { resolveRedisStore } from "../../packages/toolyard/src/state/redis/options.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { Desk, type Ran } from "../cli/harness.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";

const newKey = (): string => randomBytes(32).toString("base64");

let redis: RedisServer;
let connection: RedisConnection;
let desk: Desk;
let prefixes = 0;

beforeAll(async () => {
  if (!HAS_REDIS) return;
  redis = await RedisServer.start();
  const client = createClient(
    (await import("ioredis")) as unknown as RedisLibrary,
    resolveRedisStore({ url: redis.url }),
  );
  connection = new RedisConnection(client, SILENT_LOGGER);
  await client.connect();
  await connection.command("ACL", "SETUSER", "limited", "on", ">pw", "~*", "&*", "+@all", "-hget", "-hset", "-hgetall");
  desk = await Desk.create();
}, 60_000);

beforeEach(({ skip }) => skip(!HAS_REDIS, "Redis is not on this machine"));

afterAll(async () => {
  connection?.close();
  await desk?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

/** A new store with a configuration, whose commands run with a key. */
async function createStore(url = redis.url) {
  prefixes += 1;
  const prefix = `c${prefixes}:`;
  const file = `${prefixes}.toml`;
  await desk.write(file, `[auth]\nmodes = ["builtin"]\n[store]\nurl = "${url}"\nprefix = "${prefix}"\n`);
  const run = (args: readonly string[], key?: string): Promise<Ran> =>
    desk.run([...args, "--config", file], key === undefined ? {} : { env: { TOOLYARD_VAULT_KEY: key } });
  return { prefix, run };
}

describe("a failure of the store", () => {
  test.each([[["user", "list"]], [["user", "add", "ann"]], [["client", "list"]], [["vault", "list"]]])(
    "that refuses a command is a failure `unavailable` with the reason: %j",
    async (args) => {
      const { run } = await createStore(redis.url.replace("//", "//limited:pw@"));
      const { code, stderr } = await run(args, newKey());
      expect([code, stderr]).toEqual([4, expect.stringMatching(/no permissions to run|can't run this command/)]);
      expect(stderr).toContain("Permit it in the access control list");
      expect(stderr).not.toContain("fault of toolyard");
    },
  );

  test.each([[["user", "list"]], [["user", "remove", "ann"]], [["user", "passwd", "ann"]]])(
    "with records of another key is an error of the settings, also without the id of the key: %j",
    async (args) => {
      const { prefix, run } = await createStore();
      const key = newKey();
      expect((await run(["user", "add", "ann"], key)).code).toBe(0);
      await connection.command("DEL", `${prefix}auth:key`);
      const { code, stderr } = await run(args, newKey());
      expect([code, stderr]).toEqual([2, expect.stringContaining("commands the value of the hubs")]);
      await connection.command("DEL", `${prefix}auth:key`);
      expect((await run(["user", "list"], key)).stdout).toContain("ann");
    },
  );
});

describe("an empty store", () => {
  test("is bound to a key by the first user only, not by commands that read or fail", async () => {
    const { prefix, run } = await createStore();
    const wrong = newKey();
    const outcomes: unknown[] = [];
    for (const args of [
      ["user", "list"],
      ["client", "list"],
      ["client", "remove", "none"],
      ["user", "remove", "none"],
      ["user", "passwd", "none"],
      ["user", "add", "a b"],
      ["vault", "list"],
      ["vault", "rm", "none"],
      ["check", "--timeout", "1s"],
    ])
      outcomes.push((await run(args, wrong)).code);
    expect(outcomes).toEqual([0, 0, 2, 2, 2, 2, 0, 2, 0]);
    expect(await connection.command("EXISTS", `${prefix}auth:key`, `${prefix}vault:key`)).toBe(0);
    const key = newKey();
    const added = await run(["user", "add", "ann"], key);
    expect([added.code, added.stderr]).toEqual([0, expect.stringContaining("The store had no key yet.")]);
    expect((await run(["user", "add", "bob"], key)).stderr).not.toContain("had no key");
    const { code, stderr } = await run(["user", "list"], wrong);
    expect([code, stderr]).toEqual([2, expect.stringContaining("commands the value of the hubs")]);
  });

  test("without the variable, a command says to use the value of the hubs", async () => {
    const { run } = await createStore();
    const { code, stderr } = await run(["user", "list"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Use the value of the hubs.")]);
  });
});
