// `npm run partners -- sign-in`: signs the hub in to third-party servers with a third-party issuer, and third-party
// clients in to a hub. `oidc-provider` is the issuer, with its own pages; servers of the TypeScript and the Python SDK
// require its tokens. The clients are both TypeScript SDKs, the Inspector, `mcp-remote` and the Python SDK; Chromium
// drives the hub's pages for them. Needs the npm registry the first time, and Python for its part, which is otherwise
// skipped with a message. `CHROMIUM` names a browser for the pages.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "../tools.mjs";
import { cache, installPartners } from "./install.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
ensureInstalled("test/interop/sign-in");
const { skipped } = await installPartners(new Set(["python-2"]));
for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
if (!existsSync(process.env.CHROMIUM || "/usr/bin/chromium"))
  console.log("skipped: clients that sign in to a hub: Chromium is not on this machine");
const python = skipped.length === 0 ? join(cache, "python-2", "bin", "python") : "";
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const config = join(root, "test", "interop", "sign-in", "vitest.config.ts");
const { status } = spawnSync(process.execPath, [vitest, "run", "--config", config, "--root", root], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PYTHON: python },
});
process.exit(status ?? 1);
