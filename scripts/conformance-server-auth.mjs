// The suite's scenarios for servers that require access tokens: discovery and challenges, audiences of tokens, and
// tokens that are bound to a key. No published release of the suite has them; `CONFORMANCE` names a build with them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const RUN_MS = 120_000;
/** Port of the issuer that the suite itself starts for audiences. */
const SUITE_ISSUER_PORT = 9797;

/**
 * The hub reads the issuer's keys at its start, when the suite's issuer does not run yet, and again after this time at
 * the earliest.
 */
const COOLDOWN_MS = 6000;

/** Kinds of hubs, with the scenarios that need them. */
const KINDS = [
  { name: "server auth", pattern: /^server\/auth/u, auth: async () => ({ text: 'modes = ["builtin"]' }) },
  {
    name: "token audience",
    pattern: /^auth-token-audience/u,
    auth: async () => ({ text: issuerTable(`http://127.0.0.1:${SUITE_ISSUER_PORT}`), settleMs: COOLDOWN_MS }),
  },
  { name: "dpop", pattern: /^auth\/dpop-server/u, auth: openDpopIssuer },
  { name: "dpop with nonces", pattern: /^auth\/dpop-server/u, auth: () => openDpopIssuer("dpop_nonce = true\n") },
];

/** Runs the scenarios that the suite has. Resolves with the rows of the report. */
export async function runServerAuth({ work, tools, startHub, children }) {
  const listed = await runSuite({ tools, work, children }, ["list", "--server"]);
  const names = Array.from(listed.matchAll(/^ {2}- (\S+)/gmu), ([, name]) => name);
  const rows = [];
  for (const kind of KINDS) {
    const scenarios = names.filter((name) => kind.pattern.test(name));
    if (scenarios.length === 0) console.log(`not in this release of the suite: ${kind.name}`);
    else rows.push(await runKind(kind, scenarios, { work, tools, startHub, children }));
  }
  return rows;
}

async function runKind({ name, auth }, names, parts) {
  const { text, env = {}, settleMs = 0, stop = () => {} } = await auth();
  const config = join(parts.work, `${name.replaceAll(" ", "-")}.toml`);
  writeFileSync(config, `[auth]\n${text}\n`);
  const { url, child } = await parts.startHub(config);
  await new Promise((resolve) => void setTimeout(resolve, settleMs));
  const scenarios = [];
  let detail = "";
  for (const scenario of names) {
    const output = await runSuite(parts, ["server", "--url", url, "--scenario", scenario], env);
    const [, passed, failed] = /Passed: (\d+)\/\d+, (\d+) failed/u.exec(output) ?? [scenario, 0, 1];
    scenarios.push({ scenario, passed: Number(passed), failed: Number(failed), scored: true, expected: false });
    if (Number(failed) > 0) detail += output;
  }
  child.kill();
  stop();
  return { name, ok: scenarios.every(({ failed }) => failed === 0), scenarios, detail };
}

const issuerTable = (url, more = "") =>
  `${more}modes = ["issuer"]\nissuer = { url = "${url}", token_types = ["at+jwt", "JWT"] }`;

/** Starts an issuer with a private key with which the suite signs tokens. */
async function openDpopIssuer(more = "") {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keys = [{ ...publicKey.export({ format: "jwk" }), alg: "ES256", use: "sig" }];
  const server = createServer((request, response) => {
    const value = request.url === "/jwks" ? { keys } : { issuer: url, jwks_uri: `${url}/jwks` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(value));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const jwk = JSON.stringify({ ...privateKey.export({ format: "jwk" }), alg: "ES256" });
  return {
    text: issuerTable(url, more),
    env: { DPOP_ISSUER: url, DPOP_ISSUER_PRIVATE_JWK: jwk },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function runSuite({ tools, work, children }, args, env = {}) {
  const child = spawn(tools.node, [tools.conformance, ...args], {
    cwd: work,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: RUN_MS,
    env: { ...process.env, ...env },
  });
  children.add(child);
  const parts = [];
  child.stdout.on("data", (part) => parts.push(part));
  await once(child, "close");
  children.delete(child);
  return Buffer.concat(parts).toString();
}
