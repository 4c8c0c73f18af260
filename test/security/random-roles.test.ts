// Random roles, tokens and profiles: every surface shows and runs exactly what they permit. ROLES_RUNS sets the number
// of configurations, ROLES_SEED the seed.
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient, type EraName } from "../fixtures/raw/raw-client.ts";
import { createRandom, type Random } from "../support/random.ts";
import { isRefused, JSON_HEADERS, openTarget, openUpstream, rpc, tool, type Target, type Upstream } from "./attack.ts";
import {
  isPermitted,
  ITEMS,
  mayReach,
  randomAccess,
  SOURCES,
  type Item,
  type RandomAccess,
  type SourceId,
} from "./random-roles.ts";

const RUNS = Number(process.env["ROLES_RUNS"] ?? 3);
const SEED = Number(process.env["ROLES_SEED"] ?? 1);

type Upstreams = Readonly<Record<SourceId, Upstream>>;

async function openUpstreams(): Promise<Upstreams> {
  const open = (source: SourceId): Promise<Upstream> => {
    const own = (kind: Item["kind"]) => ITEMS.filter((item) => item.source === source && item.kind === kind);
    return openUpstream({
      instructions: `Words of ${source}.`,
      tools: own("tool").map((item) => tool(item.own, { annotations: { readOnlyHint: item.isReadOnly } })),
      prompts: own("prompt").map((item) => ({ name: item.own })),
      resources: own("resource").map((item) => ({ uri: item.own, name: item.own })),
      templates: own("template").map((item) => ({ uriTemplate: item.own, name: item.own })),
    });
  };
  const [a, b, c] = await Promise.all(SOURCES.map(open));
  return { a: a!, b: b!, c: c! };
}

/** One caller at one address of the hub. */
interface Place {
  readonly target: Target;
  readonly access: RandomAccess;
  readonly token: string;
  readonly profile: string | undefined;
}

const baseOf = ({ profile }: Place) => (profile === undefined ? "" : `/mcp/${profile}`);

async function send({ target, access, token }: Place, request: { method?: string; path: string; body?: string }) {
  const authorization = `Bearer ${access.tokens[token]!.token}`;
  return target.send({ ...request, headers: { ...JSON_HEADERS, authorization, "x-mcp-tool-mode": "all" } });
}

async function mcp(place: Place, era: EraName, work: (client: RawClient) => Promise<void>): Promise<void> {
  const { target, access, token, profile } = place;
  const url = profile === undefined ? target.url : `${target.url}/${profile}`;
  const headers = { authorization: `Bearer ${access.tokens[token]!.token}`, "x-mcp-tool-mode": "all" };
  const client = await RawClient.open(new HttpWire(url, era, headers), { era });
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

const LISTS = [
  ["tools/list", "tools", "name", "tool"],
  ["prompts/list", "prompts", "name", "prompt"],
  ["resources/list", "resources", "uri", "resource"],
  ["resources/templates/list", "resourceTemplates", "uriTemplate", "template"],
] as const;

function permittedOf({ access, token, profile }: Place, kind: Item["kind"]): string[] {
  const items = ITEMS.filter((item) => item.kind === kind && isPermitted(access, token, profile, item));
  return items.map(({ shown }) => shown).toSorted();
}

const KNOWN = new Set(ITEMS.map(({ shown }) => shown));

async function checkLists(place: Place, client: RawClient): Promise<void> {
  for (const [method, member, key, kind] of LISTS) {
    const { result } = await client.request(method);
    const names = ((result as JsonObject)[member] as JsonObject[]).map((entry) => String(entry[key]));
    expect(names.filter((name) => KNOWN.has(name)).toSorted(), method).toEqual(permittedOf(place, kind));
  }
  for (const source of SOURCES) {
    const hasSome = ITEMS.some((item) => item.source === source && isAllowed(place, item));
    const isTold = String(client.opening["instructions"]).includes(`Words of ${source}.`);
    expect(isTold, `instructions of ${source}`).toBe(hasSome);
  }
}

const isAllowed = ({ access, token, profile }: Place, item: Item) => isPermitted(access, token, profile, item);

async function checkUse(place: Place, client: RawClient, random: Random): Promise<void> {
  for (const item of ITEMS) {
    const reply = await use(client, item, random);
    expect(isRefused(reply), `${item.kind} ${item.shown}: ${JSON.stringify(reply)}`).toBe(!isAllowed(place, item));
  }
}

function use(client: RawClient, item: Item, random: Random): Promise<JsonObject> {
  const { kind, source, own, shown } = item;
  const spelt = random.pick([shown, shown, `${source}::${own}`, `${source}.${own}`, `mcp__hub__${shown}`]);
  switch (kind) {
    case "tool": {
      const direct = { name: spelt, arguments: {} };
      const nested = { name: "execute_tool", arguments: { name: spelt, arguments: {} } };
      return client.request("tools/call", random.pick([direct, nested]));
    }
    case "prompt":
      return client.request("prompts/get", { name: shown });
    case "resource":
      return client.request("resources/read", { uri: shown });
    case "template":
      return client.request("completion/complete", {
        ref: { type: "ref/resource", uri: shown },
        argument: { name: "x", value: "" },
      });
  }
}

async function checkRest(place: Place): Promise<void> {
  const base = baseOf(place);
  const listed = await send(place, { method: "GET", path: `${base}/api/tools` });
  const described = await send(place, { method: "GET", path: `${base}/openapi.json` });
  const found = await send(place, { path: `${base}/jsonrpc`, body: rpc("tools/list") });
  for (const item of ITEMS.filter(({ kind }) => kind === "tool")) {
    const isThere = isAllowed(place, item);
    for (const { body } of [listed, found]) expect(body.includes(`"${item.shown}"`), item.shown).toBe(isThere);
    expect(described.body.includes(`/api/tools/${item.shown}"`), item.shown).toBe(isThere);
    const called = await send(place, { path: `${base}/api/tools/${item.shown}`, body: "{}" });
    expect(called.status, item.shown).toBe(isThere ? 200 : 403);
    const asMethod = await send(place, { path: `${base}/jsonrpc`, body: rpc(item.shown) });
    expect(/No right/.test(asMethod.body), asMethod.body).toBe(!isThere);
  }
}

/** Returns names and URIs with which a source was called. */
function reached({ received }: Upstream): Set<string> {
  const calls = received.filter(({ method }) => /^(tools\/call|prompts\/get|resources\/read)$/.test(method));
  return new Set(calls.map(({ params }) => String(params["name"] ?? params["uri"])));
}

function forget(upstreams: Upstreams): void {
  for (const { received } of Object.values(upstreams)) received.length = 0;
}

async function checkPlace(place: Place, upstreams: Upstreams, random: Random): Promise<void> {
  forget(upstreams);
  if (!mayReach(place.access, place.token, place.profile)) {
    const path = `${baseOf(place)}/api/tools`;
    expect((await send(place, { method: "GET", path })).status).toBe(404);
    return;
  }
  const era = random.pick<EraName>(["legacy", "modern"]);
  await mcp(place, era, async (client) => {
    await checkLists(place, client);
    await checkUse(place, client, random);
  });
  await checkRest(place);
  for (const item of ITEMS.filter(({ kind }) => kind !== "template"))
    if (!isAllowed(place, item)) expect([...reached(upstreams[item.source])]).not.toContain(item.own);
}

test.each(Array.from({ length: RUNS }, (_, at) => SEED * 1000 + at))(
  "configuration %i: every surface shows and runs what rights permit, and nothing else",
  async (seed) => {
    const random = createRandom(seed);
    const access = randomAccess(random);
    const upstreams = await openUpstreams();
    const target = await openTarget({
      server: { tokens: access.tokens, jsonrpc: true, workers: random.pick([1, 1, 1, 2]) },
      limits: { rate_per_minute: 0 },
      rest: { enabled: true },
      roles: access.roles,
      profiles: access.profiles,
      mcp: {
        remote_servers: SOURCES.map((source) => ({
          alias: source,
          namespace: source === "c" ? "" : source,
          url: upstreams[source].url,
        })),
      },
    });
    try {
      await target.hub.list();
      const places = Object.keys(access.tokens).flatMap((token) =>
        [undefined, ...Object.keys(access.profiles)].map((profile): Place => ({ target, access, token, profile })),
      );
      for (const place of places)
        await checkPlace(place, upstreams, random).catch((error: unknown) => {
          throw new Error(`${place.token} at ${place.profile} of ${JSON.stringify(access)}`, { cause: error });
        });
    } finally {
      await target[Symbol.asyncDispose]();
      await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
    }
  },
);
