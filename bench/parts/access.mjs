// The cost of sign-in to the hub: a call with an access token compared with a call with a static token, and the memory
// of the authorization server inside the hub.
import { createHash, randomUUID } from "node:crypto";
import { Agent, createServer, request } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose";
import { startHub } from "../lib/hub.mjs";
import { cpuMs, least, median, memoryMb } from "../lib/measure.mjs";

const STATIC = "a-static-token-of-the-benchmark";
const CALLS = 1000;
const SETTLE_MS = 300;
const GOALS = { JWT: "15 µs more", introspection: "15 µs more", "JWT with a proof of a key": "" };

export async function measureAccess(bench) {
  const issuer = await startIssuer();
  try {
    await measureTokens(bench, issuer);
    await measureMemory(bench);
  } finally {
    issuer.stop();
  }
}

async function measureTokens({ quick, report, folder }, issuer) {
  const [jwt, introspection] = await Promise.all([
    openHub(folder(), `${issuerOf(issuer)}}\n`),
    openHub(folder(), `${issuerOf(issuer)}, verify = "introspection", client_id = "hub", client_secret = "secret" }\n`),
  ]);
  try {
    const bound = await issuer.sign({ cnf: { jkt: issuer.thumbprint } });
    const url = new URL("/api/tools/meta.ping", jwt.url).href;
    const contestants = [
      { name: "static token", hub: jwt, headers: () => bearer(STATIC) },
      { name: "JWT", hub: jwt, headers: bearerOf(await issuer.sign()) },
      { name: "JWT with a proof of a key", hub: jwt, headers: () => issuer.prove(bound, url) },
      { name: "static token of the other hub", hub: introspection, headers: () => bearer(STATIC) },
      { name: "introspection", hub: introspection, headers: bearerOf("opaque") },
    ].map((one) => ({ ...one, cpu: [] }));
    // The hubs alternate, so that other load of the machine affects them equally.
    for (let round = 0; round <= (quick ? 6 : 20); round += 1)
      for (const one of contestants) await runRound(one, round > 0);
    for (const [base, ...others] of [contestants.slice(0, 3), contestants.slice(3)]) {
      for (const { name, cpu } of others) {
        const differences = cpu.map((us, at) => us - base.cpu[at]);
        const lowest = least(cpu) - least(base.cpu);
        const text = `CPU ${lowest.toFixed(1)} µs more (median ${median(differences).toFixed(1)})`;
        report(`a call with ${name}, compared with a static token`, text, GOALS[name]);
      }
      report(`a call with a static token (${base.name})`, `CPU ${least(base.cpu).toFixed(0)} µs`);
    }
  } finally {
    await Promise.all([jwt.stop(), introspection.stop()]);
  }
}

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const bearerOf = (token) => () => bearer(token);
const issuerOf = ({ url }) => `[auth]\nmodes = ["tokens", "issuer"]\naudience = ["bench"]\nissuer = { url = "${url}"`;

function openHub(folder, auth) {
  const config = join(folder, "toolyard.toml");
  writeFileSync(config, `[server.tokens.bench]\ntoken = "${STATIC}"\n${auth}`);
  return startHub(config, { home: folder });
}

/** Sends the calls one after another on one connection, and stores microseconds of the hub's CPU for each. */
async function runRound({ hub, headers, cpu }, counts) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const target = new URL("/api/tools/meta.ping", hub.url);
  // Proofs are signed before the measurement: that is the cost of the client.
  const prepared = [];
  for (let at = 0; at < CALLS; at += 1) prepared.push(await headers());
  const before = cpuMs(hub.pid);
  for (const one of prepared) {
    const status = await post(target, agent, one);
    if (status !== 200) throw new Error(`The hub answered ${status}.`);
  }
  if (counts) cpu.push(((cpuMs(hub.pid) - before) * 1000) / CALLS);
  agent.destroy();
}

function post(target, agent, headers) {
  return new Promise((resolve, reject) => {
    const sent = request(target, {
      method: "POST",
      agent,
      headers: { ...headers, "content-type": "application/json" },
    });
    sent.on("response", (answer) => answer.resume().on("end", () => resolve(answer.statusCode)));
    sent.on("error", reject).end("{}");
  });
}

/**
 * Compares the memory of a hub with an authorization server, after a registration, with that of a hub with static
 * tokens.
 */
async function measureMemory({ quick, report, folder }) {
  const [without, withServer] = [[], []];
  for (let round = 0; round < (quick ? 3 : 8); round += 1) {
    without.push(await memoryOf(folder(), '[auth]\nmodes = ["tokens"]\n'));
    withServer.push(await memoryOf(folder(), '[auth]\nmodes = ["tokens", "builtin"]\n'));
  }
  const more = least(withServer) - least(without);
  report(
    "memory of the authorization server",
    `${more.toFixed(0)} MB more than ${least(without).toFixed(0)} MB`,
    "35 MB more",
  );
}

async function memoryOf(folder, auth) {
  const hub = await openHub(folder, auth);
  try {
    const agent = new Agent();
    await post(new URL("/api/tools/meta.ping", hub.url), agent, bearer(STATIC));
    const body = JSON.stringify({ client_name: "bench", redirect_uris: ["http://127.0.0.1/callback"] });
    const headers = { "content-type": "application/json" };
    const registered = await fetch(new URL("/register", hub.url), { method: "POST", headers, body });
    await registered.text();
    await new Promise((done) => void setTimeout(done, SETTLE_MS));
    return memoryMb(hub.pid).resident;
  } finally {
    await hub.stop();
  }
}

/** Starts an identity provider with one key, and a client with a key for proofs. */
async function startIssuer() {
  const [{ privateKey, publicKey }, proof] = await Promise.all([generateKeyPair("ES256"), generateKeyPair("ES256")]);
  const keys = [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" }];
  const proofJwk = await exportJWK(proof.publicKey);
  const server = createServer((incoming, response) => {
    const answers = {
      "/.well-known/oauth-authorization-server": {
        issuer: url,
        jwks_uri: `${url}/jwks`,
        introspection_endpoint: `${url}/who`,
      },
      "/jwks": { keys },
      "/who": { active: true, iss: url, aud: "bench", sub: "ann" },
    };
    response.setHeader("content-type", "application/json").end(JSON.stringify(answers[incoming.url] ?? {}));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${server.address().port}`;
  const seconds = () => Math.floor(Date.now() / 1000);
  const sign = (claims = {}) =>
    new SignJWT({ iss: url, aud: "bench", sub: "ann", iat: seconds(), exp: seconds() + 86_400, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "one", typ: "at+jwt" })
      .sign(privateKey);
  return {
    url,
    sign,
    thumbprint: await calculateJwkThumbprint(proofJwk),
    prove: async (token, htu) => {
      const ath = createHash("sha256").update(token).digest("base64url");
      const claims = { jti: randomUUID(), htm: "POST", htu, iat: seconds(), ath };
      const header = { alg: "ES256", typ: "dpop+jwt", jwk: proofJwk };
      const dpop = await new SignJWT(claims).setProtectedHeader(header).sign(proof.privateKey);
      return { authorization: `DPoP ${token}`, dpop };
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
