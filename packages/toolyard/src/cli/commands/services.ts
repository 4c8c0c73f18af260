import { OptionError } from "../../core/errors.ts";
import type { ServedHub, ServedHttp } from "../../hub/serve/serve.ts";
import { colorsOf } from "../output/colors.ts";
import { EXIT, UsageError } from "../failure.ts";
import { aborted } from "../input/interrupts.ts";
import { printPainted, type Io } from "../output/io.ts";
import type { LiveLine } from "../live/line-text.ts";
import { showLive } from "../live/live.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { parseUrl, readToken } from "../hub-access/session.ts";
import { table } from "../output/table.ts";

interface Options extends SharedOptions {
  readonly only?: string;
  readonly host?: string;
  readonly port?: readonly string[];
  readonly insecure?: boolean;
  readonly stdio?: boolean;
  /** Address of the hub; `true` selects its default address. */
  readonly hub?: string | true;
}

interface RunnableService {
  readonly name: string;
  /** Name in registries and compose files, such as `ddgs-mcp`. */
  readonly host?: string;
  readonly tool: string;
  readonly port: number;
}

interface ServiceRunOptions {
  readonly environment: Io["env"];
  readonly host?: string;
  readonly port?: number;
  readonly insecure?: boolean;
}

interface ServiceHandle {
  readonly service: RunnableService;
  readonly served: ServedHttp;
  close(): Promise<void>;
}

/**
 * Exports of the build of `servers/`. That code imports this package by name, so this package loads it at run time.
 */
interface ServicesModule {
  readonly SERVICES: readonly RunnableService[];
  readonly SERVICES_ON_REQUEST: readonly string[];
  loadService(name: string): Promise<RunnableService>;
  startService(service: RunnableService, options: ServiceRunOptions): Promise<ServiceHandle>;
  openService(
    service: RunnableService,
    options: ServiceRunOptions,
  ): Promise<{ serveStdio(): ServedHub; close(): Promise<void> }>;
}

const DEFAULT_HUB = "http://127.0.0.1:8808/mcp";
const GEOCODING = "geocoding";

export const run: CommandAction<Options> = async (names, options, io) => {
  const module = await loadServices();
  const wanted = await chooseServices(module, [...names, ...(options.only?.split(",") ?? [])]);
  const environment = environmentOf(options, io);
  if (options.stdio) return serveOnStdio(module, { wanted, environment }, io);
  const ports = portsOf(wanted, options.port ?? []);
  const running: ServiceHandle[] = [];
  const live = showLive(io, {
    read: () => wanted.map((one) => stepOf(one, running)),
    json: options.json === true,
    plain: false,
  });
  try {
    await startAll({ module, wanted, ports, environment, options }, running).finally(() => live.end());
    await printPainted(
      io.stdout,
      options.json ? JSON.stringify({ services: running.map(toJson), pid: process.pid }) : text(running, io),
    );
    await aborted(io.interrupted);
    return EXIT.ok;
  } finally {
    await Promise.all(running.map((one) => one.close()));
  }
};

function stepOf({ name }: RunnableService, running: readonly ServiceHandle[]): LiveLine {
  const isUp = running.some(({ service }) => service.name === name);
  return { name, state: isUp ? "listening" : "starting", outcome: isUp ? "ok" : "busy" };
}

async function loadServices(): Promise<ServicesModule> {
  return (await import(new URL("../../servers/services.js", import.meta.url).href)) as ServicesModule;
}

async function chooseServices(module: ServicesModule, names: readonly string[]): Promise<readonly RunnableService[]> {
  const words = names.map((name) => name.trim()).filter((name) => name !== "");
  const all = [...module.SERVICES, ...module.SERVICES_ON_REQUEST.map((name) => ({ name }))];
  const unknown = words.find((word) => !serviceOf(all, word));
  if (unknown !== undefined)
    throw new UsageError(
      `There is no service ${JSON.stringify(unknown)}. The services are ${all.map(({ name }) => name).join(", ")}.`,
    );
  const wanted = new Set(words.map((word) => serviceOf(all, word)));
  if (wanted.size === 0) return module.SERVICES;
  const chosen = all.filter((service) => wanted.has(service));
  return Promise.all(chosen.map((one) => ("tool" in one ? one : module.loadService(one.name))));
}

/**
 * Returns the service for a name. A service has several names: `web-search`, `ddgs-mcp` and `ddgs`, or `weather-mcp`
 * and `weather`.
 */
function serviceOf<T extends Pick<RunnableService, "name" | "host">>(all: readonly T[], word: string): T | undefined {
  const short = word.replace(/-mcp$/, "");
  return all.find(({ name, host }) => name === short || host === `${short}-mcp`);
}

function environmentOf({ hub, ...options }: Options, io: Io): Io["env"] {
  if (hub === undefined) return io.env;
  const token = readToken(options, io);
  return {
    ...io.env,
    GEOCODING_URL: parseUrl(hub === true ? DEFAULT_HUB : hub).href,
    ...(token === undefined ? {} : { GEOCODING_TOKEN: token }),
  };
}

/**
 * Returns the port of each service. `--port 6000` sets the first port of the started services, 0 chooses free ports;
 * `--port weather=6000` sets one port.
 */
function portsOf(wanted: readonly RunnableService[], given: readonly string[]): ReadonlyMap<string, number> {
  const ports = new Map(wanted.map(({ name, port }) => [name, port]));
  for (const word of given) {
    const [, said, digits = ""] = /^(?:([^=]+)=)?(\d{1,5})$/.exec(word) ?? [];
    const name = ownName(wanted, said);
    const port = digits === "" ? Infinity : Number(digits);
    if (port > MAX_PORT || (name !== undefined && !ports.has(name))) {
      throw new OptionError(
        `--port must be a number from 0 to ${MAX_PORT}, or one with the name of a service that is started, ` +
          `such as ${wanted[0]!.name}=6000, got ${JSON.stringify(word)}.`,
      );
    }
    if (name !== undefined) ports.set(name, port);
    else for (const [index, service] of wanted.entries()) ports.set(service.name, port === 0 ? 0 : port + index);
  }
  return ports;
}

function ownName(wanted: readonly RunnableService[], said: string | undefined): string | undefined {
  return said === undefined ? undefined : (serviceOf(wanted, said)?.name ?? said);
}

const MAX_PORT = 65_535;

interface ServiceLaunch {
  readonly module: ServicesModule;
  readonly wanted: readonly RunnableService[];
  readonly ports: ReadonlyMap<string, number>;
  readonly environment: Io["env"];
  readonly options: Options;
}

/** Adds running services to `running`, even if a later one fails to start. */
async function startAll(
  { module, wanted, ports, environment, options }: ServiceLaunch,
  running: ServiceHandle[],
): Promise<void> {
  const { host, insecure = false } = options;
  const start = async (service: RunnableService, variables: Io["env"]): Promise<ServiceHandle> => {
    const one = await startOne(module, service, {
      environment: variables,
      port: ports.get(service.name)!,
      insecure,
      ...(host === undefined ? {} : { host }),
    });
    running.push(one);
    return one;
  };
  // The weather service uses the geocoding service that is started here, unless another is configured.
  const geocoding = wanted.find(({ name }) => name === GEOCODING);
  const endpoint = geocoding ? (await start(geocoding, environment)).served.endpoint : undefined;
  const variables =
    endpoint === undefined || environment["GEOCODING_URL"] ? environment : { ...environment, GEOCODING_URL: endpoint };
  for (const service of wanted) if (service !== geocoding) await start(service, variables);
  running.sort((one, other) => wanted.indexOf(one.service) - wanted.indexOf(other.service));
}

async function startOne(
  module: ServicesModule,
  service: RunnableService,
  options: ServiceRunOptions,
): Promise<ServiceHandle> {
  try {
    return await module.startService(service, options);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const isPortTaken = error.cause instanceof Error && "code" in error.cause && error.cause.code === "EADDRINUSE";
    throw new OptionError(
      `The ${service.name} service cannot start. ` +
        `${error.message}${isPortTaken ? ` This service alone is moved by --port ${service.name}=N.` : ""}`,
      { cause: error },
    );
  }
}

async function serveOnStdio(
  module: ServicesModule,
  { wanted, environment }: Pick<ServiceLaunch, "wanted" | "environment">,
  io: Io,
): Promise<number> {
  const [service, ...more] = wanted;
  if (!service || more.length > 0)
    throw new UsageError("--stdio serves one service. Name it: toolyard services datetime --stdio.");
  const hub = await module.openService(service, { environment });
  const endpoint = hub.serveStdio();
  await Promise.race([endpoint.done, aborted(io.interrupted)]);
  await hub.close();
  return EXIT.ok;
}

function toJson({ service, served }: ServiceHandle): object {
  return { name: service.name, tool: service.tool, port: served.address.port, url: served.endpoint };
}

function text(running: readonly ServiceHandle[], io: Io): string {
  const { dim } = colorsOf(io);
  const rows = running.map(({ service, served }) => [
    service.name,
    service.tool,
    String(served.address.port),
    served.endpoint,
  ]);
  return [table(["service", "tool", "port", "MCP endpoint"], rows, io), "", dim("Ctrl+C ends them.")].join("\n");
}
