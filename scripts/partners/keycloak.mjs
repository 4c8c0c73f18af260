// `npm run partners -- keycloak`: Keycloak as the identity provider of a hub. Needs Java 17 and, the first time, Maven,
// which downloads the distribution; without them it is skipped with a message. `KEYCLOAK_HOME` names an unpacked
// distribution instead. Chromium drives Keycloak's own sign-in page.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../free-port.mjs";
import { cache } from "./install.mjs";
import { lackOf } from "./versions.mjs";

const VERSION = "26.7.3";
const JAVA = { command: "java", wanted: "17.0" };
/** Time limit of the start in milliseconds. It is long, because Keycloak compiles itself at its first start. */
const START_MS = 600_000;
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const lack = lackOf(JAVA, versionOf("java", "-version")) ?? lackOfKeycloak();
if (lack !== undefined) {
  console.log(`skipped: keycloak: ${lack}`);
  process.exit(0);
}
const password = randomBytes(16).toString("hex");
const { child, url } = await start(await freePort());
try {
  process.exitCode = runTests(url);
} finally {
  const ended = once(child, "exit");
  child.kill();
  await ended;
}
process.exit();

function versionOf(command, argument) {
  const { status, stdout, stderr } = spawnSync(command, [argument], { encoding: "utf8" });
  return status === 0 ? stdout + stderr : undefined;
}

function home() {
  return process.env.KEYCLOAK_HOME ?? join(cache, `keycloak-${VERSION}`);
}

/** Installs Keycloak unless it is installed. Returns why it cannot be installed. */
function lackOfKeycloak() {
  if (existsSync(join(home(), "bin", "kc.sh"))) return undefined;
  for (const program of ["mvn", "unzip"])
    if (versionOf(program, "-v") === undefined) return `${program} wanted to install it, none found`;
  mkdirSync(cache, { recursive: true });
  process.stderr.write(`Installing Keycloak ${VERSION} …\n`);
  const copy = [
    "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
    `-Dartifact=org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`,
    `-DoutputDirectory=${cache}`,
  ];
  const file = join(cache, `keycloak-quarkus-dist-${VERSION}.zip`);
  const steps = [
    ["mvn", "-q", "-B", ...copy],
    ["unzip", "-q", "-o", file, "-d", cache],
  ];
  for (const [command, ...args] of steps) {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", cwd: cache });
    if (status !== 0) return `${command} failed: ${(stdout + stderr).slice(-2000)}`;
  }
  rmSync(file);
  return undefined;
}

/** Starts Keycloak with an empty database in memory, and resolves when it listens. */
async function start(port) {
  const options = ["start-dev", "--db=dev-mem", "--http-host=127.0.0.1", `--http-port=${port}`];
  const env = { ...process.env, KC_BOOTSTRAP_ADMIN_USERNAME: "admin", KC_BOOTSTRAP_ADMIN_PASSWORD: password };
  const started = spawn(join(home(), "bin", "kc.sh"), options, { env, stdio: ["ignore", "pipe", "inherit"] });
  const timer = setTimeout(() => started.kill(), START_MS);
  let output = "";
  for await (const line of createInterface({ input: started.stdout })) {
    output = `${output}${line}\n`.slice(-4000);
    if (!line.includes(`Listening on: http://127.0.0.1:${port}`)) continue;
    clearTimeout(timer);
    started.stdout.resume();
    return { child: started, url: `http://127.0.0.1:${port}` };
  }
  throw new Error(`Keycloak ended before it listened:\n${output}`);
}

function runTests(keycloak) {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const config = join(root, "test", "interop", "sign-in", "vitest.config.ts");
  const env = { ...process.env, PARTNER_TESTS: "keycloak", KEYCLOAK: keycloak, KEYCLOAK_PASSWORD: password };
  const args = [vitest, "run", "--config", config, "--root", root];
  return spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env }).status ?? 1;
}
