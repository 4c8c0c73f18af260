import { afterEach, describe, expect, test } from "vitest";
import type { Authentication, Authenticator, Credentials } from "../../core/ports/authenticator.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { createFetchListener } from "../adapters/fetch/listener.ts";
import type { Listener } from "./listener.ts";
import { createListener } from "../adapters/node/listener.ts";
import { resolveHttp } from "../options.ts";
import type { Handler } from "../router.ts";
import { sendJson } from "../answer/send.ts";
import { createWorkerPool } from "../adapters/workers/pool.ts";

const guest: Authentication = { admitted: true, principal: { id: "guest", rights: { allow: ["pub__*"] } } };
const stranger: Authentication = { admitted: false, message: "Who are you?", challenge: 'Bearer realm="here"' };

/** Authenticator that answers asynchronously, like one that uses another service. */
class Slow implements Authenticator {
  readonly asked: (string | undefined)[] = [];

  async authenticate(credentials: Credentials): Promise<Authentication> {
    const authorization = credentials.header("authorization");
    this.asked.push(authorization);
    await new Promise((resolve) => void setImmediate(resolve));
    if (authorization === "Bearer broken") throw new Error("the key of the issuer is 1234");
    return authorization === "Bearer guest" ? guest : stranger;
  }
}

const who: Handler = ({ answer, principal }) => sendJson(answer, 200, JSON.stringify(principal));
const closing: Listener[] = [];

afterEach(async () => {
  for (const listener of closing.splice(0)) await listener.close();
});

type Ask = (authorization?: string) => Promise<Response>;

const rims: readonly [string, (authenticator: Authenticator) => Promise<Ask>][] = [
  ["a listener", (authenticator) => listening(createListener(options(1), SILENT_LOGGER, authenticator))],
  ["a listener with workers", (authenticator) => listening(createWorkerPool(options(2), SILENT_LOGGER, authenticator))],
  [
    "a listener for `fetch`",
    async (authenticator) => {
      const listener = createFetchListener(options(1), SILENT_LOGGER, authenticator);
      listener.route({ methods: ["GET"], path: "/who" }, who);
      closing.push(listener);
      return (authorization) =>
        listener.fetch(new Request("http://127.0.0.1/who", { headers: headersOf(authorization) }));
    },
  ],
];

function options(workers: number) {
  return resolveHttp({ port: 0, shutdown_grace: 500, workers });
}

async function listening(listener: Listener): Promise<Ask> {
  closing.push(listener);
  listener.route({ methods: ["GET"], path: "/who" }, who);
  const { url } = await listener.listen();
  return (authorization) => fetch(`${url}/who`, { headers: headersOf(authorization) });
}

function headersOf(authorization: string | undefined): Record<string, string> {
  return authorization === undefined ? {} : { authorization };
}

describe.each(rims)("%s", (_rim, open) => {
  test("S2: passes on the whole principal of the authenticator, with its rights", async () => {
    const ask = await open(new Slow());
    const answers = await Promise.all([ask("Bearer guest"), ask("Bearer guest")]);
    for (const answer of answers) expect(await answer.json()).toEqual(guest.admitted && guest.principal);
  });

  test("S2: answers a refused caller with the authenticator's message, and checks it again next time", async () => {
    const slow = new Slow();
    const ask = await open(slow);
    for (const authorization of [undefined, "Bearer other", "Bearer other"]) {
      const answer = await ask(authorization);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="here"']);
      expect(await answer.text()).toContain("Who are you?");
    }
    expect(slow.asked).toHaveLength(3);
  });

  test("S2: admits no caller if the authentication fails, and reveals no reason", async () => {
    const ask = await open(new Slow());
    const answer = await ask("Bearer broken");
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await answer.text()).not.toContain("1234");
    expect((await ask("Bearer guest")).status).toBe(200);
  });
});

test("S2: a worker asks the primary once per token, and has no tokens", async () => {
  const slow = new Slow();
  const ask = await listening(createWorkerPool(options(2), SILENT_LOGGER, slow));
  for (let count = 0; count < 12; count += 1) expect((await ask("Bearer guest")).status).toBe(200);
  expect(slow.asked.length).toBeLessThanOrEqual(2);
});
