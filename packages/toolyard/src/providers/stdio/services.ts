import { isBuiltin } from "node:module";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import type { Starts } from "../../core/sources/table-facts.ts";
import type { ExtraName } from "../../extras/extras.ts";
import { assertEmbeddingModel, NO_EMBEDDING_SERVICE } from "../../models/embedding-service.ts";
import type { ModelsConfig } from "../../models/options.ts";
import { mcpSource } from "../mcp-server/kind.ts";
import type { ResolvedSource } from "../source-kind.ts";
import { resolveStdioServer, type StdioServerOptions } from "./options.ts";

/** A service that comes with the package. */
interface ServiceRow {
  /** Name in `toolyard services`. */
  readonly name: string;
  readonly says: string;
  /** Prefixes of the environment variables that the service reads, in addition to the common ones. */
  readonly reads: readonly string[];
  /** Extra that contains the service, if it is in a separate package. */
  readonly extra?: ExtraName;
}

/** All services, by their keys in the configuration. */
export const SERVICES = {
  datetime: { name: "datetime", says: "The time in any place.", reads: ["DATETIME_"] },
  web_search: { name: "web-search", says: "Web search, configured in [web_search].", reads: ["WEB_SEARCH_"] },
  weather: {
    name: "weather",
    says: "Weather and forecasts. Without `GEOCODING_URL` it looks up places itself.",
    reads: ["WEATHER_", "OPEN_METEO_", "GEOCODING_", "NOMINATIM_"],
  },
  geocoding: { name: "geocoding", says: "Coordinates of places and addresses.", reads: ["NOMINATIM_"] },
  gnn: {
    name: "gnn",
    says: "Models of Active Inference in GNN: read, checked, drawn, converted.",
    reads: ["GNN_"],
    extra: "gnn",
  },
  library: {
    name: "library",
    says: "A library of documents: read, searched, quoted.",
    reads: ["LIBRARY_", "MISTRAL_API_KEY", "WEAVIATE_", "PG"],
    extra: "library",
  },
} as const satisfies Readonly<Record<string, ServiceRow>>;

type ServiceId = keyof typeof SERVICES;

const READ_BY_ALL = ["SERVICES_", "TOOLYARD_HOME", "TOOLYARD_LOGGING_", "XDG_DATA_HOME", "LOCALAPPDATA"];

function member(key: ServiceId) {
  return Type.Optional(Type.Boolean({ description: SERVICES[key].says, default: false }));
}

export const ServicesSchema = Type.Object(
  {
    datetime: member("datetime"),
    web_search: member("web_search"),
    weather: member("weather"),
    geocoding: member("geocoding"),
    gnn: member("gnn"),
    library: member("library"),
  },
  {
    description:
      "Services in the package. Each is a separate process that starts with its first call. Their names have " +
      "the same precedence as those of [mcp.stdio_servers].",
  },
);

export const GnnSchema = Type.Object(
  {
    roots: Type.Optional(
      Type.Array(Type.Path({ minLength: 1 }), {
        description:
          "The only folders in which the GNN tools may read and write. A caller's relative path starts in " +
          "the first one. Empty: the tools accept only texts.",
        default: [],
        examples: [["models"]],
      }),
    ),
  },
  { description: "Settings of the GNN tools, which [services] enables." },
);

export const LibrarySchema = Type.Object(
  {
    roots: Type.Optional(
      Type.Array(Type.Path({ minLength: 1 }), {
        description:
          "Folders that the library's tools may read. Empty: they only search documents that a user added with " +
          "`toolyard library add`.",
        default: [],
        examples: [["books"]],
      }),
    ),
    allow_urls: Type.Optional(
      Type.Boolean({
        description: "If true, the library's tools may fetch documents from public https addresses.",
        default: false,
      }),
    ),
    watch: Type.Optional(
      Type.Boolean({
        description: "If true, new and changed files in `roots` are added to the library.",
        default: false,
      }),
    ),
    ocr: Type.Optional(
      Type.Union([Type.Literal("off"), Type.Literal("local"), Type.Literal("mistral")], {
        description:
          "OCR of text in pictures. `local`: the extra `ocr` on this machine. `mistral`: the service of " +
          "Mistral with the key in `MISTRAL_API_KEY`; it receives the documents and costs money.",
        default: "off",
      }),
    ),
    ocr_languages: Type.Optional(
      Type.Array(Type.String({ minLength: 2, maxLength: 3 }), {
        description: "Codes of the languages for OCR, used if the language of a document is unknown.",
        default: ["en", "fr"],
        examples: [["de"]],
      }),
    ),
    ocr_data: Type.Optional(
      Type.Path({ minLength: 1, description: "Folder with `eng.traineddata` and similar files, for local OCR." }),
    ),
    ocr_price: Type.Optional(
      Type.Number({
        description: "Price per page that Mistral reads, from your contract; results contain the total.",
        default: 0.001,
        minimum: 0,
        maximum: 1000,
      }),
    ),
    embedding: Type.Optional(
      Type.Enum(["table", "models"], {
        description:
          "Creates the vectors of documents and questions. `table`: the English word vectors of the package. " +
          "`models`: the model in `models.embedding`, which receives the texts. Run `toolyard library reindex` " +
          "after a change. Absent: the variables `LIBRARY_EMBED_URL` and `LIBRARY_EMBED_MODEL`, else the table.",
      }),
    ),
    collection: Type.Optional(
      Type.String({
        pattern: "^[a-z][a-z0-9_]{0,30}$",
        description:
          "One of several libraries in the store; for a file, another file next to it (`library.scholars.db`). " +
          "Tools can name another one. Default: the collection in the store's address, else main.",
        examples: ["scholars"],
      }),
    ),
    store: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Address of the library: sqlite:///folder/library.db, postgres://user:password@host/database or " +
          "weaviate+http://host:8080; `?collection=name` separates several libraries. Absent: a file in the " +
          "data folder.",
        examples: ["postgres://reader:${LIBRARY_PASSWORD}@db.example.com/books"],
      }),
    ),
  },
  { description: "Settings of the document library, which [services] enables." },
);

export const GNN_STARTS: Starts = { shownKeys: ["roots"], before: "reads and writes files in" };

export const LIBRARY_STARTS: Starts = {
  shownKeys: ["roots", "store", "ocr", "embedding"],
  before: "reads files, and stores or sends their contents:",
  sendsTo: ["store"],
  refersTo: { embedding: { value: "models", path: ["models", "embedding"] } },
};

export interface ServicesReads {
  readonly services?: Static<typeof ServicesSchema>;
  readonly gnn?: Static<typeof GnnSchema>;
  readonly library?: Static<typeof LibrarySchema>;
  readonly web_search?: Readonly<Record<string, unknown>>;
  readonly models?: ModelsConfig;
}

export interface ServiceServerOptions extends StdioServerOptions {
  readonly service: {
    /** Key of the service in the file of lists. */
    readonly name: string;
    /** Prefixes of the environment variables that are passed on from the hub. */
    readonly reads: readonly string[];
    /** Extras that the service needs. */
    readonly extras: readonly ExtraName[];
    /** `[models]`, if the service uses its embedding model. */
    readonly embedding?: ModelsConfig;
  };
}

/** Path of the program that runs one service for a hub. */
const HOSTED = fileURLToPath(new URL("../../servers/hosted.js", import.meta.url));

/** Returns the services that a configuration requests. Throws an `OptionError` that names the option. */
export function resolveServices({
  services = {},
  ...config
}: ServicesReads): readonly ResolvedSource<ServiceServerOptions>[] {
  const keys = (Object.keys(SERVICES) as ServiceId[]).filter((key) => services[key]);
  return keys.map((key) => {
    const { name, reads }: ServiceRow = SERVICES[key];
    const server = resolveStdioServer({
      command: [process.execPath, HOSTED, name],
      env: variablesOf(key, config),
      namespace: "",
      start: "lazy",
      era: "modern",
    });
    const embedding = key === "library" ? libraryEmbedding(config) : undefined;
    const service = {
      name,
      reads: [...READ_BY_ALL, ...reads],
      extras: extrasOf(key, config),
      ...(embedding && { embedding }),
    };
    return { ...mcpSource(`services.${key}`, { ...server, service }), isBundled: true };
  });
}

/** Returns the extras that a service requires in this configuration. */
function extrasOf(key: ServiceId, { library = {} }: ServicesReads): readonly ExtraName[] {
  const { extra }: ServiceRow = SERVICES[key];
  if (extra === undefined || extra !== "library") return extra === undefined ? [] : [extra];
  const { store = "", ocr } = library;
  const isOnServer = /^(?:postgres(?:ql)?|weaviate)\b/.test(store);
  const needed: readonly (readonly [ExtraName, boolean])[] = [
    ["library", true],
    ["sqlite", !isOnServer && !isBuiltin("node:sqlite")],
    ["postgres", store.startsWith("postgres")],
    ["ocr", ocr === "local"],
  ];
  return needed.flatMap(([name, isNeeded]) => (isNeeded ? [name] : []));
}

function variablesOf(key: ServiceId, config: ServicesReads): Record<string, string> {
  if (key === "gnn") return rootsVariable("gnn", config.gnn?.roots);
  if (key === "library") return libraryVariables(config.library);
  return key === "web_search" ? webSearchVariables(config.web_search) : {};
}

function rootsVariable(table: string, roots: readonly string[] = []): Record<string, string> {
  const split = roots.find((root) => root.includes(delimiter));
  if (split !== undefined)
    throw new OptionError(
      `\`${table}.roots\` must be paths without ${JSON.stringify(delimiter)}, got ${JSON.stringify(split)}. ` +
        "Rename the folder.",
    );
  return roots.length > 0 ? { [`${table.toUpperCase()}_ROOTS`]: roots.join(delimiter) } : {};
}

/** Returns `[models]` if the library uses its embedding model. Throws an `OptionError` if it is not set. */
function libraryEmbedding({ library, models = {} }: ServicesReads): ModelsConfig | undefined {
  if (library?.embedding !== "models") return undefined;
  assertEmbeddingModel(models);
  return models;
}

function libraryVariables({ roots, embedding, ...options }: NonNullable<ServicesReads["library"]> = {}): Record<
  string,
  string
> {
  const named = Object.entries(options).map(([name, value]) => [`LIBRARY_${name.toUpperCase()}`, String(value)]);
  return {
    ...rootsVariable("library", roots),
    ...Object.fromEntries(named),
    ...(embedding === "table" && NO_EMBEDDING_SERVICE),
  };
}

function webSearchVariables(webSearch: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const { user_agent: userAgent, ...options } = webSearch;
  const named = Object.entries(options).map(([name, value]) => [`WEB_SEARCH_${name.toUpperCase()}`, String(value)]);
  return Object.fromEntries(userAgent === undefined ? named : [...named, ["SERVICES_USER_AGENT", String(userAgent)]]);
}
