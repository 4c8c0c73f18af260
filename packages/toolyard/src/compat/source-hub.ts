import type { FileDraft } from "../core/ports/hub-control.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { locateConfig } from "../config/locate.ts";
import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { Deadline } from "../core/calls/deadline.ts";
import { FailError, messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { BINDING_SEPARATOR, DEFAULT_NAMING, MAX_NAME_LENGTH, type Surface } from "../core/names/names.ts";
import { Spellings } from "../core/names/spelling.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import type { Logger } from "../core/ports/ports.ts";
import { firstChars } from "../core/text/truncate.ts";
import type { SourceReport } from "../core/ports/hub-port.ts";
import { logConfig } from "../hub/log-config.ts";
import { loadHubConfig, openHub, type Hub } from "../hub/open-hub.ts";
import type { SurfaceTool } from "../hub/tool-directory.ts";
import { Reloader } from "../hub/reload.ts";
import type { HubConfig } from "../hub/schema.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import { toolyardOf, type CallOptions, type Toolyard } from "../kernel/toolyard.ts";

export interface SourceHubOptions {
  /** Returns the settings of the hub. Called at its opening and at each `apply`. */
  readonly settings: () => HubConfig | Promise<HubConfig>;
  /** Name of the endpoint in audit lines. */
  readonly endpoint: string;
  /**
   * True to include all configured sources, with the hub's own tools and limits. @default false: only the sources of
   * `settings`
   */
  readonly isWhole?: boolean;
  /** Configuration files; later files have precedence. @default none */
  readonly config?: string | readonly string[];
  /** Counter of request ids over all hubs of one client. @default each connection counts separately */
  readonly requestIds?: RequestIds;
  /** Number of attempts before a server counts as unreachable. @default 1 */
  readonly connectAttempts?: number;
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Logger. @default as configured in `[logging]`, on standard error */
  readonly logger?: Logger;
}

export interface SourceDiscovery {
  readonly tools: readonly SurfaceTool[];
  /** Failures of sources that could not be reached. */
  readonly failures: ReadonlyMap<string, Fail>;
}

export interface DiscoverOptions {
  readonly surface: Surface;
  /** True to request the tools of every source again, even if they are known. */
  readonly force: boolean;
  /** Time limit for each source. Sources are requested concurrently. */
  readonly timeoutMs: number;
}

interface OpenSourceHub {
  readonly hub: Hub;
  readonly toolyard: Toolyard;
  readonly reloader: Reloader;
}

/** Base settings for a program's own sources. They have no limits; limits are passed with each call. */
const OWN_BASE: JsonObject = {
  limits: { rate_per_minute: 0, in_flight: 0, call_timeout: "24h", total_timeout: "24h" },
  logging: { level: "warning" },
  catalog: { max_name_chars: 128 },
};
/**
 * Base settings of a whole hub. Code execution is off, because it is intended for served hubs; a program that needs it
 * sets it in its configuration.
 */
const WHOLE_BASE: JsonObject = {
  builtin: { execute_code: false },
  limits: { rate_per_minute: 0, in_flight: 0 },
  logging: { level: "warning" },
};
/** Time that a call waits for a server that was never reached, in milliseconds. */
const REACH_MS = 30_000;
/**
 * Pause before a retry, in milliseconds. A link repeats the failure of its last attempt for half a second, so an
 * earlier retry would have the same result.
 */
const RECONNECT_PAUSE_MS = 600;
const WHOLE_VIEW = { mode: "all", principal: LOCAL_PRINCIPAL } as const;

/**
 * The hub behind a class of the specified Python interfaces. It is opened at first use, has only the sources of the
 * class, and is closed with it.
 */
export class SourceHub {
  readonly #options: SourceHubOptions;
  /** Sources listed at least once since they were added. */
  readonly #reached = new Set<string>();
  #opening: Promise<OpenSourceHub> | undefined;
  #hub: Hub | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: SourceHubOptions) {
    this.#options = options;
  }

  /** State of each source; empty before the hub is open. */
  get sources(): readonly SourceReport[] {
    return this.#hub?.port.sources() ?? [];
  }

  /**
   * Opens the hub. Rejects with a `ConfigError` or `OptionError` if the settings are invalid; the next attempt reads
   * them again.
   */
  async open(): Promise<Hub> {
    return (await this.#open()).hub;
  }

  /** Lists the tools of all sources that respond in time. Rejects only if the hub cannot be opened. */
  async discover({ surface, force, timeoutMs }: DiscoverOptions): Promise<SourceDiscovery> {
    const { hub } = await this.#open();
    const startedAt = performance.now();
    const failures = await this.#reach(hub, ({ source }) => force || !this.#reached.has(source.id), { timeoutMs });
    // The time limit applies once per source: the list waits only for the remaining time.
    const leftMs = Math.max(1, timeoutMs - (performance.now() - startedAt));
    const tools = await hub.tools.forSurface(surface, WHOLE_VIEW, leftMs);
    // If a source was requested again and did not respond, its old tools are omitted.
    return { failures, tools: force ? tools.filter(({ record }) => !failures.has(record.source.id)) : tools };
  }

  /** Connects to every source. Rejects with the `FailError` of the first source that fails. */
  async connect(timeoutMs = REACH_MS): Promise<void> {
    const { hub } = await this.#open();
    const [failure] = (await this.#reach(hub, ({ source }) => !this.#reached.has(source.id), { timeoutMs })).values();
    if (failure) throw new FailError(failure);
  }

  /**
   * Calls a tool by any spelling of its name. Expected failures are outcomes; rejects only if the hub cannot be opened.
   */
  async call(tool: string, args: JsonObject, options: CallOptions = {}): Promise<Outcome> {
    const startedAt = performance.now();
    const { hub, toolyard } = await this.#open();
    if (isForeignAlias(tool, hub)) return fail("unknown_tool", `Unknown tool: ${firstChars(tool, MAX_NAME_LENGTH)}.`);
    const away = await this.#reachFor(tool, hub, options);
    if (away) return away;
    const { timeoutMs } = options;
    const left = timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, timeoutMs - (performance.now() - startedAt)) };
    const outcome = await toolyard.call(tool, args, { ...options, ...left });
    return (!outcome.ok && outcome.kind === "unknown_tool" && awayAltogether(hub.port.sources())) || outcome;
  }

  /** Applies changed settings if the hub is open. If they are invalid, rejects and changes nothing. */
  async apply(): Promise<void> {
    const { reloader, hub } = await this.#open();
    const before = new Map(hub.port.sources().map(({ source }) => [source.id, source]));
    await reloader.apply();
    const now = new Map(hub.port.sources().map(({ source }) => [source.id, source]));
    for (const [id, source] of before) if (now.get(id) !== source) this.#reached.delete(id);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /**
   * Connects to sources that may have a tool with this name. An unknown name may belong to a server that was not listed
   * so far: the server named by its prefix is connected first. Without a prefix, the call waits for starting servers as
   * in any hub; failed servers are retried in the background for the next call.
   */
  async #reachFor(tool: string, hub: Hub, { timeoutMs = REACH_MS, signal }: CallOptions): Promise<Fail | undefined> {
    if (hub.tools.nameOf(tool, LOCAL_PRINCIPAL) !== undefined) return undefined;
    const isAway = ({ source, status }: SourceReport): boolean =>
      status.state !== "ready" && !this.#reached.has(source.id);
    const owners = hub.tools.ownersOf(tool);
    const named = hub.port.sources().filter(({ source }) => owners.has(source.id));
    if (named.length === 0) {
      const hasFailed = (report: SourceReport): boolean => isAway(report) && report.status.state !== "starting";
      void this.#reach(hub, hasFailed, { timeoutMs: REACH_MS });
      return undefined;
    }
    const isNamed = (report: SourceReport): boolean => isAway(report) && owners.has(report.source.id);
    const failures = await this.#reach(hub, isNamed, { timeoutMs: Math.min(timeoutMs, REACH_MS), signal });
    const [first] = failures.values();
    return failures.size === named.length && hub.tools.nameOf(tool, LOCAL_PRINCIPAL) === undefined ? first : undefined;
  }

  async #reach(
    hub: Hub,
    wants: (report: SourceReport) => boolean,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<ReadonlyMap<string, Fail>> {
    const failures = new Map<string, Fail>();
    const ids = hub.port
      .sources()
      .filter(wants)
      .map(({ source }) => source.id);
    const deadline = new Deadline({ idleMs: timeoutMs, totalMs: timeoutMs }, undefined, signal);
    const reachOne = async (id: string): Promise<void> => {
      try {
        await this.#refresh(hub, id, deadline.signal);
        this.#reached.add(id);
      } catch (error) {
        failures.set(id, error instanceof FailError ? error.failure : fail("internal", messageOf(error)));
        this.#reached.delete(id);
      }
    };
    await Promise.all(ids.map(reachOne));
    deadline.clear();
    return failures;
  }

  async #refresh(hub: Hub, id: string, signal: AbortSignal): Promise<void> {
    const { connectAttempts = 1 } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return void (await hub.sources.refresh(id, signal));
      } catch (error) {
        const mayHelp =
          error instanceof FailError &&
          error.failure.kind === "unavailable" &&
          error.failure.retryable &&
          !signal.aborted;
        if (!mayHelp || attempt >= connectAttempts) throw error;
        await sleep(RECONNECT_PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  #open(): Promise<OpenSourceHub> {
    if (this.#closed)
      return Promise.reject(
        new FailError(fail("unavailable", "This object was closed. Create a new one.", { retryable: false })),
      );
    this.#opening ??= this.#openHub().catch((error: unknown) => {
      // A failed opening is not kept, because the settings may be corrected before the next attempt.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openHub(): Promise<OpenSourceHub> {
    const { settings, config = [], isWhole = false, variables: given = process.env } = this.#options;
    const { endpoint, logger, requestIds } = this.#options;
    const named = typeof config === "string" ? [config] : config;
    const files = named.length > 0 ? locateConfig(named, given, process.cwd()) : [];
    // Read at each load, because a variable may be set between two loads.
    const readVariables = () => (isWhole ? given : withoutSources(given));
    const base = isWhole ? WHOLE_BASE : OWN_BASE;
    const load = async (draft?: FileDraft) =>
      loadHubConfig({ files, variables: readVariables(), base, flags: await settings(), ...(draft && { draft }) });
    const hub = await openHub({
      config: await load(),
      variables: readVariables(),
      mirror: !isWhole,
      ...(logger ? { logger } : {}),
      ...(requestIds ? { requestIds } : {}),
    });
    logConfig(hub.config, hub.logger);
    this.#hub = hub;
    return { hub, toolyard: toolyardOf(hub, { endpoint }), reloader: new Reloader({ hub, load }) };
  }

  async #close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.reloader.close();
    await opened?.toolyard.close();
  }
}

/**
 * Returns whether the name can belong to none of the sources, so that the call need not wait for a server: it is empty,
 * or has an alias of no source. A source without a namespace may have tools of any name, so its list must be known.
 */
function isForeignAlias(tool: string, hub: Hub): boolean {
  if (tool.trim() === "" || tool.endsWith(BINDING_SEPARATOR)) return true;
  if (!tool.includes(BINDING_SEPARATOR) || hub.tools.nameOf(tool, LOCAL_PRINCIPAL) !== undefined) return false;
  const reports = hub.port.sources();
  const away = reports.filter(({ status }) => status.state !== "ready");
  if (away.length === 0 || away.some(({ source }) => source.namespace === "")) return false;
  // The spellings are built from the sources, because the catalog has none before its first list.
  const spellings = new Spellings(
    reports.map(({ source }) => source),
    { naming: DEFAULT_NAMING },
  );
  const owners = [spellings.read(tool)?.owners, hub.tools.ownersOf(tool)];
  return owners.every((ids) => ids === undefined || ids.size === 0);
}

/** Returns a failure if no source is reachable and none was listed before. */
function awayAltogether(reports: readonly SourceReport[]): Fail | undefined {
  const [first, ...others] = reports.map(({ tools, status: { state, lastError = "It does not respond." } }) => {
    if (tools > 0) return undefined;
    if (state === "needs_authorisation") return fail("needs_authorisation", lastError);
    return state === "down" ? fail("unavailable", lastError) : undefined;
  });
  return others.every((one) => one !== undefined) ? first : undefined;
}

/**
 * Removes `TOOLYARD_…` variables, which configure the hub of this machine and not a program's own sources. Only those
 * for the log and the data folder are kept.
 */
export function withoutSources(
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(variables).filter(
      ([name]) => !name.startsWith("TOOLYARD_") || name === "TOOLYARD_HOME" || name.startsWith("TOOLYARD_LOGGING_"),
    ),
  );
}
