import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_PRINCIPAL, type Call } from "../../packages/toolyard/src/core/calls/call.ts";
import { Deadline } from "../../packages/toolyard/src/core/calls/deadline.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Outcome } from "../../packages/toolyard/src/core/calls/outcome.ts";
import { SILENT_LOGGER, type Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { Provider } from "../../packages/toolyard/src/core/sources/provider.ts";
import type { SignInCoordinator, SignOutResult } from "../../packages/toolyard/src/core/ports/sign-in-coordinator.ts";
import { createHttpProvider } from "../../packages/toolyard/src/providers/http/http-provider.ts";
import { resolveRemoteServer, type RemoteServerConfig } from "../../packages/toolyard/src/providers/http/options.ts";
import { probe } from "../../packages/toolyard/src/providers/http/probe.ts";
import { signInPlace } from "../../packages/toolyard/src/providers/http/sign-in-place.ts";
import type { SharedSignIns } from "../../packages/toolyard/src/signin/vault-port.ts";
import { createContext, type LoginContext, type SignInPlace } from "../../packages/toolyard/src/signin/context.ts";
import { login } from "../../packages/toolyard/src/signin/login.ts";
import { signOut } from "../../packages/toolyard/src/signin/sign-out.ts";
import type { SignInRecord } from "../../packages/toolyard/src/signin/records.ts";

export interface Surroundings {
  readonly logger?: Logger;
  readonly desk?: SignInCoordinator;
  /** Folder of the vault. @default the folder of this home */
  readonly folder?: string;
}

export interface LoginWay {
  readonly show?: (address: string) => Promise<void>;
  /** Principal of the sign-in, if each has its own, and its user at the browser. */
  readonly as?: string;
}

/** A home with a vault. Closes everything that was opened with it. */
export class Home implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "toolyard-sign-in-"));
  readonly hidden = new Map<object, readonly string[]>();
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #shared: SharedSignIns | undefined;

  /** `shared` is the vault of all hubs of a store, which replaces the one in the folder. */
  constructor(shared?: SharedSignIns) {
    this.#shared = shared;
  }

  context(config: RemoteServerConfig, principal?: string): LoginContext {
    const context = createContext(this.#place(config, principal));
    this.#closing.push(() => context.network.close());
    return context;
  }

  /** Signs out like `toolyard logout`. */
  signOut(config: RemoteServerConfig): Promise<SignOutResult | undefined> {
    return signOut(this.#place(config));
  }

  #place(config: RemoteServerConfig, principal?: string): SignInPlace {
    const options = resolveRemoteServer(config);
    const where = { environment: {}, folder: this.folder, shared: this.#shared, logger: SILENT_LOGGER };
    return signInPlace({ label: "far", options, principal, ...where });
  }

  /** Signs in like `toolyard login`, with a browser that follows redirects. */
  async login(config: RemoteServerConfig, how: LoginWay | LoginWay["show"] = {}): Promise<SignInRecord> {
    const { as: person, show = (address: string) => visit(address, person) } =
      typeof how === "function" ? { show: how } : how;
    const signal = AbortSignal.timeout(30_000);
    const options = resolveRemoteServer(config);
    const challenge = await probe({ label: "far", options, environment: {}, signal });
    return login(this.context(config, person), { challenge, show, signal });
  }

  /** Opens the source as a hub would. */
  open(config: RemoteServerConfig, { logger = SILENT_LOGGER, desk, folder }: Surroundings = {}): Provider {
    const provider = createHttpProvider({
      source: { id: "far", kind: "http", namespace: "far", order: 0 },
      options: resolveRemoteServer(config),
      environment: {},
      hideFor: (owner, secrets) => void this.hidden.set(owner, secrets),
      vaultFolder: folder ?? this.folder,
      sharedVault: this.#shared,
      logger,
      ...(desk && { desk }),
    });
    this.#closing.push(() => provider.close());
    provider.open();
    return provider;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#closing.map((close) => close()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Opens an address like a browser and follows redirects to the last page. */
export async function visit(address: string, person?: string): Promise<void> {
  await (await fetch(address, { headers: person === undefined ? {} : { "x-person": person } })).text();
}

/** Caller of a test's call, for tests that depend on the caller. */
export interface As extends Partial<Pick<Call, "principal" | "ask">> {
  readonly capabilities?: JsonObject;
  /** Time limit of the call in milliseconds. */
  readonly totalMs?: number;
}

export async function echo(provider: Provider, text: string, as: As = {}): Promise<Outcome> {
  const tool = (await provider.listing()).tools.find(({ name }) => name === "echo");
  if (!tool) throw new Error(`There is no tool: ${provider.status().lastError}`);
  const { totalMs = 30_000 } = as;
  const deadline = new Deadline({ idleMs: totalMs, totalMs });
  const outcome = await provider.call({
    id: "call-1",
    endpoint: "test",
    method: "tools/call",
    target: "echo",
    params: {},
    arguments: { text },
    meta: {},
    principal: as.principal ?? LOCAL_PRINCIPAL,
    mode: "all",
    client: { capabilities: as.capabilities ?? {} },
    signal: deadline.signal,
    deadline,
    wants: { progress: false },
    notify: () => {},
    ask: as.ask ?? (() => Promise.reject(new Error("there is no user to ask"))),
    relaysInput: false,
    record: { type: "tool", tool },
  });
  deadline.clear();
  return outcome;
}

type Note = Logger["info"];

/** Returns a logger that keeps lines with their level. */
export function noting(lines: string[]): Logger {
  const note =
    (level: string) =>
    (message: string, facts?: JsonObject): void =>
      void lines.push(JSON.stringify({ level, message, facts }));
  const [debug, info, warning, error] = ["debug", "info", "warning", "error"].map(note) as [Note, Note, Note, Note];
  const logger: Logger = { debug, info, warning, error, with: () => logger };
  return logger;
}

export const says = (text: string): object => ({ ok: true, result: { content: [{ type: "text", text }] } });
