// Writes dist/servers/lists.json: the tools of each service, so that a hub knows them before the service is started.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dist = new URL("../packages/toolyard/dist/", import.meta.url);
const load = (path) => import(new URL(`../packages/toolyard/build/${path}`, import.meta.url).href);
const [
  { SERVICES },
  { StdioTransport },
  { Upstream },
  { LISTING_FORMAT },
  { SILENT_LOGGER },
  { childEnvironment },
  { VERSION },
] = await Promise.all(
  [
    "providers/stdio/services.js",
    "upstream/transports/stdio-transport.js",
    "upstream/upstream.js",
    "upstream/listing/listing-cache.js",
    "core/ports/ports.js",
    "process/environment.js",
    "core/version.js",
  ].map(load),
);

const hosted = fileURLToPath(new URL("servers/hosted.js", dist));
const OPTIONS = {
  clientInfo: { name: "toolyard", version: VERSION },
  start: "lazy",
  idleStopMs: 60_000,
  era: "modern",
  opensCheaply: false,
  isolation: "auto",
  maxSessions: 1,
  roots: [],
  connectTimeoutMs: 120_000,
};

async function listOf(name) {
  let remembered;
  const cache = { load: async () => undefined, save: (value) => (remembered = value), close: async () => {} };
  const openTransport = () =>
    new StdioTransport({
      command: process.execPath,
      args: [hosted, name],
      env: childEnvironment(),
      maxMessageBytes: 32 * 1024 * 1024,
      maxMessageParts: 600_000,
    });
  const upstream = new Upstream({ ...OPTIONS, openTransport }, { logger: SILENT_LOGGER, cache });
  upstream.open();
  await upstream.refresh(AbortSignal.timeout(120_000));
  await upstream.close();
  return [name, { format: LISTING_FORMAT, remembered }];
}

const lists = await Promise.all(Object.values(SERVICES).map(({ name }) => listOf(name)));
writeFileSync(new URL("servers/lists.json", dist), JSON.stringify({ version: VERSION, ...Object.fromEntries(lists) }));
