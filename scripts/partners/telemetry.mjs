// `npm run partners -- telemetry`: traces, metrics and logs of two hubs and a server on the Python SDK, received by an
// OpenTelemetry Collector, which Go builds from its modules, and decoded by the official messages in Python. A
// part without its toolchain is skipped with a message.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cache, installPart, installPartners, run } from "./install.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const home = join(root, "test", "interop", "telemetry");
const collector = join(cache, "collector");
const python = join(cache, "otlp-proto", "bin", "python");

const { skipped, ready } = await installPartners(new Set(["python-2", "go-sdk"]));
for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
const has = (partner) => ready.some(({ name }) => name === partner);
if (has("go-sdk"))
  await installPart({
    name: "collector",
    library: "go.opentelemetry.io/collector",
    sources: [join(home, "collector")],
    install: () => run(["go", "build", "-o", collector, "."], join(home, "collector")),
  });
if (has("python-2"))
  await installPart({
    name: "otlp-proto",
    library: "opentelemetry-proto",
    sources: [join(home, "requirements.txt")],
    install: async () => {
      rmSync(join(cache, "otlp-proto"), { recursive: true, force: true });
      await run(["python3", "-m", "venv", join(cache, "otlp-proto")], root);
      const pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"];
      await run([...pip, join(home, "requirements.txt")], root);
    },
  });

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(
  process.execPath,
  [vitest, "run", "--config", join(home, "vitest.config.ts"), "--root", root],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      COLLECTOR: has("go-sdk") ? collector : "",
      PROTO_PYTHON: has("python-2") ? python : "",
      SDK_PYTHON: has("python-2") ? join(cache, "python-2", "bin", "python") : "",
    },
  },
);
process.exit(status ?? 1);
