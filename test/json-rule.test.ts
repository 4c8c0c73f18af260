// `JSON.parse` rounds integers beyond 2^53. Messages, arguments, results and definitions are read by `parseExact` only.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "../packages/toolyard/src");

/** Files that may use JSON.parse because no caller and no tool wrote their input, by that input. */
const OWN_TEXTS: Readonly<Record<string, readonly string[]>> = {
  "the two readers": ["core/json/exact-json.ts", "runtimes/calling/node/toolyard/script/exact-json.cjs"],
  "text that the same function has written, without a BigInt": ["agent/tool-output.ts"],
  "requests of the AI SDK, for clients that write them with `JSON.stringify`": ["compat/agent/client-fetch.ts"],
  "files of the hub": [
    "auth/builtin/client-registry.ts",
    "auth/builtin/disk/journal-records.ts",
    "auth/builtin/keys.ts",
    "auth/builtin/users.ts",
    "config/accepted-files.ts",
    "config/connect/environment-file.ts",
    "config/connect/records.ts",
    "features/console/api/admin-schemas.ts",
    "providers/stdio/install/install-files.ts",
    "providers/stdio/install/supervised-install-main.ts",
    "providers/stdio/service-listing.ts",
    "providers/tool-folders/prepare/needs.ts",
    "signin/issuer-book.ts",
    "signin/vault.ts",
  ],
  "files of other programs, and variables": [
    "extras/find-package.ts",
    "extras/install/install-extra.ts",
    "extras/install/lock-file.ts",
    "extras/self-link.ts",
    "runtimes/execute/find-faults.ts",
    "telemetry/secret-settings.ts",
  ],
  "templates of new tools": ["cli/new-tool/other-files.ts", "cli/new-tool/script-files.ts"],
  "answers of services that are no tools": [
    "auth/builtin/redirects.ts",
    "core/json/json-object-text.ts",
    "models/model-failure.ts",
    "outbound/outbound-client.ts",
    "upstream/transports/http/session-loss.ts",
  ],
  "what processes and workers of the hub tell each other, cursors": [
    "endpoints/mcp/paging.ts",
    "http/adapters/workers/main.ts",
    "http/adapters/workers/principal-text.ts",
    "http/adapters/workers/worker-process.ts",
    "http/adapters/workers/worker.ts",
    "http/relay/forwarding.ts",
    "http/relay/frames/handshake.ts",
    "http/relay/frames/request-heads.ts",
    "http/relay/sealed-request.ts",
    "hub/shared/greeting.ts",
    "sandbox/child/main.ts",
    "sandbox/deno/bundle.ts",
  ],
  "frames of the sandbox, in which values are texts": [
    "sandbox/javascript/guest-error.ts",
    "sandbox/javascript/host-plain.ts",
    "sandbox/python/guest-done.ts",
    "sandbox/python/guest-link.ts",
  ],
};

test("files that read values of callers and tools do not use JSON.parse", () => {
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  const using = names
    .filter((name) => /\.[cm]?[jt]s$/.test(name) && !name.endsWith(".test.ts"))
    .filter((name) => readFileSync(join(SOURCES, name), "utf8").includes("JSON.parse("));
  const others = using.filter((name) => !Object.values(OWN_TEXTS).flat().includes(name));
  expect(others).toEqual([]);
});
