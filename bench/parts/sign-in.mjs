// The cost of a request to a server with a sign-in: reading the vault's token. It is less than the noise of a whole
// call, so it is measured separately.
import { completeOAuth } from "../../packages/toolyard/build/outbound/credentials/oauth.js";
import { SHARED_PERSON } from "../../packages/toolyard/build/signin/records.js";
import { createSession } from "../../packages/toolyard/build/signin/session.js";
import { Vault } from "../../packages/toolyard/build/signin/vault.js";
import { least, median } from "../lib/measure.mjs";

const URL_OF_SERVER = new URL("https://mcp.example/mcp");
const LOGGER = { debug() {}, info() {}, warning() {}, error() {}, with: () => LOGGER };
const COUNT = 200_000;

export async function measureSignIn({ quick, report, folder }) {
  const place = { label: "far", url: URL_OF_SERVER, person: SHARED_PERSON, folder: folder(), logger: LOGGER };
  const record = recordOf(place);
  await new Vault({ folder: place.folder, variables: {} }, () => {}).update(record, () => record);
  const own = { options: completeOAuth(URL_OF_SERVER), environment: {}, caFiles: [], remedy: "", onSecrets() {} };
  const session = createSession({ ...place, ...own });
  try {
    await session.load();
    const cpu = Array.from({ length: quick ? 3 : 10 }, () => cpuOfRequests(session));
    const told = [least(cpu), median(cpu)].map((us) => `${us.toFixed(2)} µs`);
    report("a request to a server that is signed in to", `CPU ${told[0]} more (median ${told[1]})`, "5 µs more");
  } finally {
    await session.close();
  }
}

/** Returns the CPU time per request, in microseconds. */
function cpuOfRequests(session) {
  const sent = { method: "POST", url: URL_OF_SERVER };
  const { signal } = new AbortController();
  const before = process.cpuUsage();
  for (let turn = 0; turn < COUNT; turn += 1) session.headersFor(sent, signal);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / COUNT;
}

function recordOf({ label: source, url, person }) {
  const issuer = "https://issuer.example";
  return {
    source,
    url: url.href,
    person,
    server: { issuer, token_endpoint: `${issuer}/token` },
    client: { issuer, id: "bench", method: "none", from: "given" },
    scopes: [],
    tokens: { access: "t".repeat(800), type: "Bearer", obtainedAt: Date.now(), lifetimeMs: 86_400_000 },
  };
}
