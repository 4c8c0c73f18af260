// Counts the files that an addition changes: finds files that name a source kind, an endpoint or a store outside of its
// own folder, and checks that a new kind works without being named elsewhere.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { foreignFile } from "../packages/toolyard/src/config/accepted-files.ts";
import {
  addPath,
  addServer,
  pathListsOf,
  pathsOf,
  serversOf,
  treeOf,
  type NewServer,
} from "../packages/toolyard/src/config/edit/sources.ts";
import { TomlDocument } from "../packages/toolyard/src/config/edit/toml-document.ts";
import { loadConfig } from "../packages/toolyard/src/config/load.ts";
import { configTemplate } from "../packages/toolyard/src/config/template.ts";
import { Type, type OptionSchema } from "../packages/toolyard/src/core/options/option-schema.ts";
import type { ProviderKind } from "../packages/toolyard/src/core/sources/provider-kinds.ts";
import { joinSections } from "../packages/toolyard/src/kernel/sections.ts";
import { FEATURES } from "../packages/toolyard/src/hub/features.ts";
import { sourceKindsOf } from "../packages/toolyard/src/kernel/feature-sections.ts";
import { featureList } from "../packages/toolyard/src/kernel/feature-list.ts";
import { STORES } from "../packages/toolyard/src/state/stores.ts";
import { APPROVALS } from "./places-to-touch/approvals/feature.ts";
import { AUTHORIZATION_SERVER } from "./places-to-touch/authorization-server/feature.ts";
import { FRONT_PAGE } from "./places-to-touch/front-page/feature.ts";
import { METRICS } from "./places-to-touch/metrics/feature.ts";
import { SHARED_STORE } from "./places-to-touch/shared-store/kind.ts";
import { ToyHub } from "./places-to-touch/toy-hub.ts";
import { callTo } from "./support/pipeline.ts";

/** The paths below are relative to this folder. */
const ROOT = join(dirname(import.meta.dirname), "packages/toolyard");
const SOURCE_KINDS = sourceKindsOf(FEATURES);

interface SourceFile {
  readonly path: string;
  /** Text of the file without comments. */
  readonly text: string;
}

const FILES: readonly SourceFile[] = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => `src/${file.replaceAll("\\", "/")}`)
  // Excludes temporary files of `import-rule.test.ts`, which may run concurrently.
  .filter((path) => path.endsWith(".ts") && !/\.test\.ts$|\/import-rule-/.test(path))
  .map((path) => ({ path, text: withoutComments(readFileSync(join(ROOT, path), "utf8")) }));

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(?:^|\s)\/\/.*/gm, "");
}

/** Returns files outside of a folder in which one of the patterns occurs. */
function naming(folder: string, patterns: readonly RegExp[], files = FILES): readonly string[] {
  const outside = files.filter(({ path }) => !path.startsWith(`${folder}/`));
  return outside
    .filter(({ text }) => patterns.some((pattern) => pattern.test(text)))
    .map(({ path }) => path)
    .toSorted();
}

function importOf(folder: string): RegExp {
  return new RegExp(`(?:from |import\\()"[^"]*${folder.replace(/^src\//, "")}/`);
}

/** Patterns of a kind: its key, its sections, and imports from its folder. */
function namesOfKind(kind: string, sections: readonly string[]): readonly RegExp[] {
  const ofSections = sections.map((name) =>
    name.includes("_")
      ? new RegExp(`\\b${name}\\b`)
      : new RegExp(`["\`[.]${name}["\\]]|\\[${name}\\.|\\b(?:config|settings|tree|options|raw)\\??\\.${name}\\b`),
  );
  return [
    importOf(`src/providers/${kind}`),
    new RegExp(`\\b(?:kind|source)\\b[^;\\n]*"${kind}"`),
    new RegExp(`^\\s*${kind}: \\{.*oneServer`, "m"),
    ...ofSections,
  ];
}

/** Files that register a kind and that a new one changes. The hub's own tools have a separate feature. */
const REGISTERED = ["src/core/sources/provider-kinds.ts", "src/hub/features.ts"];

/** `toolyard new` writes sample tools of these kinds. */
const SAMPLES = ["src/cli/new-tool/kinds.ts"];

/** `toolyard prepare` installs dependencies of tools of these kinds. */
const PREPARED = ["src/cli/commands/prepare.ts"];

/**
 * Files that read or write servers in the format of clients and editors, `{command, …}` or `{url, …}`. The format has
 * only these two kinds, so a new kind does not change these files.
 */
const TWO_FORMS = [
  "src/cli/commands/add.ts",
  "src/cli/commands/import.ts",
  "src/compat/agent/agent-hub.ts",
  "src/compat/client/client-options.ts",
  "src/compat/client/mcp-client.ts",
  "src/config/document.ts",
  "src/features/console/api/edit-sources.ts",
  "src/config/edit/toml-document.ts",
  "src/config/import/import-servers.ts",
  "src/config/mcp-json.ts",
  "src/hub/added-servers.ts",
  "src/hub/create-hub.ts",
];

/** Configuration sections of each source kind, and the further files that may name the kind. */
const KINDS: Readonly<
  Record<ProviderKind, { readonly sections: readonly string[]; readonly about: readonly string[] }>
> = {
  builtin: {
    sections: ["builtin"],
    // Code that a user runs directly, and the service that the hub gives to its own tools.
    about: [
      "src/cli/commands/run.ts",
      "src/cli/output/run-view.ts",
      "src/compat/core/mcp.ts",
      "src/compat/core/settings.ts",
      // The authentication mode with the same name.
      "src/auth/options.ts",
      "src/features/auth/live-access.ts",
      "src/features/auth/load-library.ts",
      "src/features/builtin-tools/builtin-ports.ts",
      "src/features/builtin-tools/feature.ts",
      "src/features/json-rpc/feature.ts",
    ],
  },
  modules: {
    sections: ["modules"],
    // The API for programs with functions as tools, and reports that name modules.
    about: [
      ...SAMPLES,
      "src/cli/hub-access/still-starting.ts",
      "src/compat/core/mcp.ts",
      "src/compat/core/registries.ts",
      "src/compat/core/settings.ts",
      "src/core-server.ts",
      "src/features/builtin-tools/builtin-ports.ts",
      "src/hub/create-hub.ts",
      "src/hub/open-hub-options.ts",
      "src/kernel/kernel-keys.ts",
      "src/index.ts",
    ],
  },
  scripts: { sections: ["scripts", "scriptling"], about: [...SAMPLES, ...PREPARED] },
  folders: { sections: ["folders"], about: [...SAMPLES, ...PREPARED] },
  stdio: {
    sections: ["stdio_servers"],
    // Formats of programs that support only this kind, and downloads of servers.
    about: [
      ...TWO_FORMS,
      ...SAMPLES,
      "src/cli/commands/extras.ts",
      "src/compat/bindings/server-entry.ts",
      "src/compat/bindings/standard-mcp.ts",
      "src/hub/installs.ts",
    ],
  },
  http: {
    sections: ["remote_servers"],
    // `--url`, sign-in to remote servers, and formats of programs that support only this kind.
    about: [
      ...TWO_FORMS,
      "src/cli/commands/login.ts",
      "src/cli/hub-access/session.ts",
      "src/cli/sign-ins.ts",
      "src/compat/bindings/remote-mcp.ts",
      "src/compat/manager/registry.ts",
    ],
  },
  defaults: {
    sections: ["default_tools"],
    about: ["src/cli/output/run-view.ts", "src/compat/bindings/bundled-tools.ts", "src/compat/bindings/local-mcp.ts"],
  },
};

describe("a source kind", () => {
  const kinds = Object.entries(KINDS);

  test.each(kinds)("%s is named only in its registration and in files about it", (kind, { sections, about }) => {
    const named = naming(`src/providers/${kind}`, namesOfKind(kind, sections));
    // Both files use the word `folders` for another subject: folders of programs, and the folders of PATH.
    const others = ["src/process/resolve-command.ts", "src/providers/stdio/install/npx.ts"];
    const registered = REGISTERED.filter((path) => kind !== "builtin" || path !== "src/hub/features.ts");
    expect(named.filter((path) => !others.includes(path))).toEqual([...registered, ...about].toSorted());
  });

  test("the search covers every kind and every section of a kind", () => {
    expect([...new Set(SOURCE_KINDS.map(({ kind }) => kind))].toSorted()).toEqual(Object.keys(KINDS).toSorted());
    const sections = SOURCE_KINDS.flatMap(({ schema }) => Object.entries(schema as Record<string, OptionSchema>));
    const own = sections.flatMap(([name, { properties }]) => (name === "mcp" ? Object.keys(properties ?? {}) : [name]));
    const looked = kinds.flatMap(([, { sections: names }]) => names);
    expect(own.filter((name) => !looked.includes(name))).toEqual(["services", "gnn", "library"]);
  });

  test.each([
    ['import { x } from "../providers/scripts/x.ts";', "scripts"],
    ['const isScript = source.kind === "scripts";', "scripts"],
    ['const table = tree["scripts"];', "scripts"],
    ["const words = `see [scripts]`;", "scripts"],
    ["const { remote_servers: remote } = mcp;", "http"],
  ])("finds a kind in %s", (text, kind) => {
    const files = [{ path: "src/config/x.ts", text }];
    const { sections } = KINDS[kind as ProviderKind];
    expect(naming(`src/providers/${kind}`, namesOfKind(kind, sections), files)).toEqual(["src/config/x.ts"]);
  });

  test.each([
    ["// it is a source of the kind scripts, in [scripts]", "scripts"],
    ["const scripts = all.filter((one) => one.isScript);", "scripts"],
    ['const entry = { type: "http", url };', "http"],
  ])("finds no kind in %s", (text, kind) => {
    const files = [{ path: "src/config/x.ts", text: withoutComments(text) }];
    const { sections } = KINDS[kind as ProviderKind];
    expect(naming(`src/providers/${kind}`, namesOfKind(kind, sections), files)).toEqual([]);
  });
});

describe("an unknown kind", () => {
  // A name that occurs in no table.
  const kind = "looms" as ProviderKind;
  const schema: OptionSchema = {
    type: "object",
    additionalProperties: false,
    properties: joinSections([
      ...SOURCE_KINDS,
      {
        schema: {
          looms: Type.Optional(
            Type.Table(
              Type.Object({
                patterns: Type.Optional(Type.Array(Type.Path(), { default: ["patterns"] })),
                threads: Type.Optional(
                  Type.Table(
                    Type.Sources(Type.Record(Type.Object({ weave: Type.String() }, { additionalProperties: true })), {
                      kind,
                      identity: ["weave"],
                    }),
                    { starts: { keys: ["weave"], shownKeys: ["weave"] } },
                  ),
                ),
              }),
              {
                sample: "\n# Looms.\n# [looms]\n",
                formerly: "spindles",
                starts: { keys: ["patterns"], shownKeys: ["patterns"] },
                places: {
                  kind,
                  key: "patterns",
                  ofFolder: (names) => (names.includes("weft") ? "folder" : undefined),
                  ofFile: ({ name }) => (name === "weft" ? "folder" : undefined),
                },
              },
            ),
          ),
        },
      },
    ]),
  };
  const FILE = '[looms]\npatterns = ["a"]\n[looms.threads.red]\nweave = "wool"\n';
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolyard-kind-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function write(text: string): Promise<string> {
    const path = join(folder, "toolyard.toml");
    await mkdir(join(folder, ".git"), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  test("adds its section to a new configuration file", () => {
    expect(configTemplate(schema)).toContain("\n# Looms.\n# [looms]\n");
    expect(configTemplate({ ...schema, properties: {} })).not.toContain("[looms]");
  });

  test("can be enabled, disabled and removed by name", async () => {
    const { tree } = await TomlDocument.parse("toolyard.toml", FILE);
    expect(serversOf(tree, schema)).toEqual([
      { name: "red", kind, path: ["looms", "threads", "red"], options: { weave: "wool" } },
    ]);
  });

  test("can be added to its section", async () => {
    const server: NewServer = { kind, name: "blue", options: { weave: "silk" }, comment: "from a shop" };
    const { text } = await addServer(await TomlDocument.parse("toolyard.toml", FILE), server, schema);
    expect(text).toBe(`${FILE}\n# from a shop\n[looms.threads.blue]\nweave = "silk"\n`);
    expect(treeOf(server, schema)).toEqual({ looms: { threads: { blue: { weave: "silk" } } } });
  });

  test("can get a path in its list of tools, also in a section with the older name", async () => {
    const document = await TomlDocument.parse("toolyard.toml", '[spindles]\npatterns = ["a"]\n');
    const list = pathListsOf(document.tree, schema).find((one) => one.kind === kind)!;
    expect(list.section).toBe("spindles");
    const after = await addPath(document, list, "b");
    expect(pathsOf(after.tree, list)).toEqual(["a", "b"]);
    const [unset] = pathListsOf({ looms: {} }, schema).filter((one) => one.kind === kind);
    expect(pathsOf({ looms: {} }, unset!)).toEqual(["patterns"]);
  });

  test("can be read with its older name", async () => {
    const path = await write('[spindles]\npatterns = ["a"]\n');
    const { tree } = await loadConfig({ files: [path], variables: {}, schema });
    expect(tree).toEqual({ looms: { patterns: [join(folder, "a")] } });
  });

  test("requires acceptance if it starts a program, and otherwise not", async () => {
    const foreign = await foreignFile(await write(FILE), schema);
    expect(foreign?.starts).toEqual(["[looms] a", "[looms.threads.red] wool"]);
    expect(await foreignFile(await write('[looms.threads.red]\nweave = "wool"\nenabled = false\n'), schema)).toBe(
      undefined,
    );
  });

  test("is accepted for the programs that it starts, and for nothing else", async () => {
    const digestOf = async (text: string) => (await foreignFile(await write(text), schema))?.digest;
    const before = await digestOf(FILE);
    expect(await digestOf(`${FILE}color = "dark"\n`)).toBe(before);
    expect(await digestOf(FILE.replace("wool", "silk"))).not.toBe(before);
    expect(await digestOf(FILE.replace("red", "pink"))).not.toBe(before);
  });
});

/** Parts of an endpoint that are used without mounting it: its interface without HTTP, or its texts. */
const ENDPOINTS: Readonly<Record<string, readonly string[]>> = {
  jsonrpc: [
    "src/compat/core/errors.ts",
    "src/compat/core/mcp.ts",
    "src/compat/core/to-error.ts",
    "src/features/builtin-tools/builtin-ports.ts",
    "src/hub/serve/serve-stdio.ts",
  ],
  mcp: ["src/features/tasks/detached-run.ts", "src/hub/serve/serve-stdio.ts"],
  rest: [
    "src/features/console/api/agent.ts",
    "src/features/console/api/apps.ts",
    "src/features/console/api/contents.ts",
    "src/features/console/api/route.ts",
    "src/features/console/api/tools.ts",
    "src/features/console/api/admin-routes.ts",
    "src/features/console/access/session-endpoint.ts",
    "src/features/console/console-endpoint.ts",
    "src/features/console/feature.ts",
    "src/features/home/feature.ts",
    "src/hub/serve/serve.ts",
  ],
  "sign-in": [],
  auth: [],
  status: ["src/hub/shared/commands.ts"],
  readiness: [],
  metrics: [],
  schedules: [],
  statistics: ["src/hub/shared/commands.ts"],
  whoami: [],
};
/** Feature of each endpoint. */
const FEATURE_OF: Readonly<Record<string, string>> = {
  jsonrpc: "src/features/json-rpc/feature.ts",
  mcp: "src/hub/features.ts",
  rest: "src/hub/features.ts",
  "sign-in": "src/features/sign-in/feature.ts",
  auth: "src/features/auth/feature.ts",
  status: "src/features/status/feature.ts",
  readiness: "src/features/readiness/feature.ts",
  metrics: "src/features/prometheus/feature.ts",
  schedules: "src/features/schedules/feature.ts",
  statistics: "src/features/statistics/feature.ts",
  whoami: "src/features/roles/feature.ts",
};

describe("an endpoint", () => {
  test.each(Object.entries(ENDPOINTS))(
    "%s is named only by its feature and by files that use its protocol",
    (endpoint, about) => {
      expect(naming(`src/endpoints/${endpoint}`, [importOf(`src/endpoints/${endpoint}`)])).toEqual(
        [FEATURE_OF[endpoint], ...about].toSorted(),
      );
    },
  );

  test("the search covers every folder that exports an endpoint", () => {
    const exporting = FILES.flatMap(({ path }) => /^src\/endpoints\/([\w-]+)\/kind\.ts$/.exec(path)?.[1] ?? []);
    expect(exporting.toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
  });

  test("finds a further file that imports from an endpoint", () => {
    const files = [{ path: "src/hub/x.ts", text: 'import { y } from "../endpoints/status/kind.ts";' }];
    expect(naming("src/endpoints/status", [importOf("src/endpoints/status")], files)).toEqual(["src/hub/x.ts"]);
  });
});

describe("a store", () => {
  test.each(Object.keys(STORES))(
    "%s is named in one line of the list of stores, and in the file that opens it",
    (store) => {
      const patterns = [importOf(`state/${store}`), new RegExp(`(?:from |import\\()"\\./${store}/`)];
      expect(naming(`src/state/${store}`, patterns)).toEqual(["src/state/stores.ts"]);
      const list = FILES.find(({ path }) => path === "src/state/stores.ts")!;
      expect(list.text.match(new RegExp(`^ {2}${store}: `, "gm"))).toHaveLength(1);
    },
  );

  test("finds a further file that imports from a store", () => {
    const files = [{ path: "src/hub/x.ts", text: 'import { y } from "../state/memory/memory-store.ts";' }];
    expect(naming("src/state/memory", [importOf("state/memory")], files)).toEqual(["src/hub/x.ts"]);
  });
});

/**
 * Capabilities that do not exist yet, each a folder next to this file. Only the list of features, or of stores, names
 * them: the tests below append the toy to that list instead of editing the file.
 */
const TOYS: Readonly<Record<string, readonly string[]>> = {
  "front-page": ["src/hub/features.ts"],
  metrics: ["src/hub/features.ts"],
  approvals: ["src/hub/features.ts"],
  "authorization-server": ["src/hub/features.ts"],
  "shared-store": ["src/state/stores.ts"],
};
const TOY_FOLDER = join(import.meta.dirname, "places-to-touch");

describe("a new capability", () => {
  test.each(Object.entries(TOYS))(
    "%s changes at most two files outside of its folder, and a store at most one",
    (toy, touched) => {
      expect(touched.length).toBeLessThanOrEqual(toy.endsWith("-store") ? 1 : 2);
      for (const path of touched) expect(FILES.map((file) => file.path)).toContain(path);
      expect(naming(`test/places-to-touch/${toy}`, [new RegExp(`\\b${toy}\\b.*feature`)])).toEqual([]);
    },
  );

  test.each(Object.keys(TOYS))("%s imports only what features may import, and from no other feature", (toy) => {
    const files = readdirSync(join(TOY_FOLDER, toy));
    const imports = files.flatMap((file) =>
      Array.from(readFileSync(join(TOY_FOLDER, toy, file), "utf8").matchAll(/from "([^"]+)"/g), ([, path]) => path!),
    );
    const parts = imports.map((path) => /\/src\/([a-z]+)\//.exec(path)?.[1] ?? path);
    expect(parts.filter((part) => /^(?:hub|features|cli|compat)$/.test(part))).toEqual([]);
  });

  test("front page: adds a page to which `/` redirects a browser, and its configuration section", async () => {
    const features = featureList([...FEATURES, FRONT_PAGE]);
    await using on = await ToyHub.open(features, { front_page: { enabled: true } });
    const home = await on.fetch("/", { headers: { accept: "text/html" } });
    expect([home.status, home.headers.get("location")]).toEqual([302, `${on.served.address.url}/front`]);
    expect(await (await on.fetch("/front")).text()).toContain("Console (open)");
    expect(await (await on.fetch("/front/sources")).json()).toEqual(["builtin"]);
    // A program that reads `/` still gets the JSON-RPC dialect.
    expect((await on.fetch("/?uri=none://x")).headers.get("content-type")).toContain("json");
    await using off = await ToyHub.open(features, {});
    expect((await off.fetch("/front")).status).toBe(404);
    expect(await (await off.fetch("/?clients", { headers: { accept: "text/html" } })).text()).toContain("<html");
    await expect(ToyHub.open(features, { front_page: { enabeld: true } })).rejects.toThrow("enabled");
    await expect(ToyHub.open(FEATURES, { front_page: {} })).rejects.toThrow("front_page");
  });

  test("metrics endpoint: counts calls of every endpoint by source and outcome", async () => {
    await using toy = await ToyHub.open(featureList([...FEATURES, METRICS]), { metrics: { path: "/metrics" } });
    expect((await toy.call("tool_search", { query: "x" })).status).toBe(200);
    await toy.call("no_such_tool");
    await toy.hub.port.call(callTo("tool_search", { query: "x" }));
    const text = await (await toy.fetch("/metrics")).text();
    expect(text.split("\n").filter(Boolean).toSorted()).toEqual([
      'toolyard_calls_total{source="builtin",outcome="ok"} 2',
      'toolyard_calls_total{source="none",outcome="unknown_tool"} 1',
    ]);
  });

  test("approval stage: refuses a call until it is approved, on every endpoint", async () => {
    const features = featureList([...FEATURES, APPROVALS]);
    await using toy = await ToyHub.open(features, { approvals: { tools: ["tool_search"] } });
    const refused = await toy.hub.port.call(callTo("tool_search", { query: "x" }));
    expect(refused).toMatchObject({ ok: false, kind: "denied" });
    expect((await toy.call("tool_search", { query: "x" })).status).toBe(403);
    expect((await toy.call("meta.ping")).status).toBe(200);
    expect(await (await toy.fetch("/approvals")).json()).toEqual(["tool_search"]);
    await toy.fetch("/approvals?tool=tool_search", { method: "POST" });
    expect((await toy.call("tool_search", { query: "x" })).status).toBe(200);
  });

  test("authorization server: every endpoint accepts its tokens, and metadata and challenge name it", async () => {
    const features = featureList([...FEATURES, AUTHORIZATION_SERVER]);
    await using toy = await ToyHub.open(features, { token_server: { clients: { ci: "s3cret" } } });
    const refused = await toy.call("meta.ping");
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringContaining("/.well-known/oauth-protected-resource"),
    ]);
    const metadata = await toy.fetch("/.well-known/oauth-protected-resource");
    expect(await metadata.json()).toMatchObject({ authorization_servers: [toy.served.address.url] });
    const ask = (secret: string): Promise<Response> =>
      toy.fetch("/token", { method: "POST", body: new URLSearchParams({ client_id: "ci", client_secret: secret }) });
    expect((await ask("wrong")).status).toBe(401);
    const { access_token: token } = (await (await ask("s3cret")).json()) as { readonly access_token: string };
    const authorization = `Bearer ${token}`;
    expect((await toy.call("meta.ping", {}, { authorization })).status).toBe(200);
    expect((await toy.fetch("/status", { headers: { authorization } })).status).toBe(200);
    const status = await toy.call("meta.get_server_status", {}, { authorization });
    expect(JSON.stringify(await status.json())).toContain("oauth");
    const document = await toy.fetch("/openapi.json", { headers: { authorization } });
    expect(await document.json()).toHaveProperty("security");
    await using open = await ToyHub.open(features, {});
    expect((await open.call("meta.ping")).status).toBe(200);
  });

  test("store: hubs with the same URL count calls together, others do not", async () => {
    const stores = { shared: SHARED_STORE, ...STORES };
    const open = (url?: string): Promise<ToyHub> =>
      ToyHub.open(FEATURES, { limits: { rate_per_minute: 2 }, ...(url !== undefined && { store: { url } }) }, stores);
    await using one = await open("shared:a");
    await using two = await open("shared:a");
    await using other = await open("shared:b");
    await using alone = await open();
    const statuses = [];
    for (const toy of [one, two, one, other, alone]) statuses.push((await toy.call("meta.ping")).status);
    expect(statuses).toEqual([200, 200, 429, 200, 200]);
  });
});

describe("the kernel", () => {
  test("limits the members of a hub, the imports of open-hub.ts and the services of one part", async () => {
    await using toy = await ToyHub.open(FEATURES, {});
    const members = [toy.hub, Object.getPrototypeOf(toy.hub)].flatMap((one) => Object.getOwnPropertyNames(one));
    const named = members.filter((name) => name !== "constructor").toSorted();
    expect(named.length).toBeLessThanOrEqual(10);
    expect(named).toEqual(expect.arrayContaining(["close", "config", "port", "reconfigure"]));
    const text = (path: string): string => FILES.find((file) => file.path === path)!.text;
    expect(text("src/hub/open-hub.ts").match(/^import /gm)!.length).toBeLessThanOrEqual(12);
    const parts = FEATURES.flatMap(({ uses, provides, sources, endpoints }) => [
      uses,
      provides,
      ...[...sources, ...endpoints].map((part) => part.uses),
    ]);
    expect(Math.max(...parts.map((keys) => keys.length))).toBeLessThanOrEqual(8);
    expect(parts.flat().length).toBeGreaterThan(30);
  });
});
