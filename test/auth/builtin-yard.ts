import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAccounts, type Accounts } from "../../packages/toolyard/src/auth/builtin/accounts.ts";
import { openDiskState } from "../../packages/toolyard/src/auth/builtin/disk/disk-state.ts";
import { Passwords } from "../../packages/toolyard/src/auth/builtin/passwords.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";

export const PASSWORD = "correct horse battery staple";
export const REDIRECT = "http://127.0.0.1:9123/callback";

/** Opens a hub with its own authorization server and the user Ann, in the group `dev`. */
export async function openYard(builtin: JsonObject = {}, settings: JsonObject = {}): Promise<ToyHub> {
  const toy = await ToyHub.open(FEATURES, { auth: { modes: ["builtin"], builtin }, ...settings });
  await addUser(toy.home, "Ann", ["dev"]);
  return toy;
}

/** Opens the users and clients of a hub with this home folder. */
export function accountsOf(home: string): Accounts {
  return openAccounts(openDiskState(join(home, "data")));
}

export async function addUser(home: string, name: string, groups: readonly string[] = []): Promise<void> {
  const hash = await new Passwords().hash(PASSWORD);
  await accountsOf(home).users.add(name, { hash, groups });
}

export function newHome(): string {
  return mkdtempSync(join(tmpdir(), "toolyard-auth-"));
}

export async function register(toy: ToyHub, metadata: JsonObject = {}): Promise<Response> {
  return toy.fetch("/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Test client",
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "none",
      ...metadata,
    }),
  });
}

export async function clientOf(toy: ToyHub, metadata: JsonObject = {}): Promise<string> {
  return ((await (await register(toy, metadata)).json()) as { readonly client_id: string }).client_id;
}

export interface Step {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
  readonly headers: Headers;
}

/** A browser that keeps cookies, follows redirects within the hub, and submits forms. */
export class Visitor {
  readonly #toy: ToyHub & { readonly outside?: (url: URL, init: RequestInit) => Promise<Response> };
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>();
  /** Address of the last page. */
  at = "";

  constructor(toy: ToyHub) {
    this.#toy = toy;
  }

  #fetch(url: URL, init: RequestInit): Promise<Response> {
    return this.#toy.outside ? this.#toy.outside(url, init) : fetch(url, init);
  }

  get cookies(): readonly string[] {
    return [...this.#cookies.keys()];
  }

  /** Follows redirects to a page of the hub, or up to an address outside of it. */
  async open(address: string, init: RequestInit = {}): Promise<Step> {
    const origin = new URL(this.#toy.served.address.url).origin;
    let [next, sent] = [new URL(address, origin), init];
    for (let hops = 0; hops < 10; hops += 1) {
      const answer = await this.#fetch(next, {
        ...sent,
        redirect: "manual",
        headers: { ...(sent.headers as Record<string, string>), cookie: this.#cookieFor(next.pathname) },
      });
      this.#keep(answer.headers.getSetCookie());
      this.at = next.href;
      const location = answer.headers.get("location") ?? undefined;
      const target = location === undefined ? undefined : new URL(location, next);
      if (!target || target.origin !== origin)
        return { status: answer.status, location: target?.href, text: await answer.text(), headers: answer.headers };
      await answer.text();
      [next, sent] = [target, { headers: sent.headers ?? {} }];
    }
    throw new Error("The browser was redirected too often.");
  }

  /** Submits the form of a page; these values replace the form's own. */
  submit(page: Step, values: Readonly<Record<string, string>>): Promise<Step> {
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    return this.open(this.at, { method: "POST", body: new URLSearchParams({ csrf, ...values }) });
  }

  login(page: Step, user = "Ann", password = PASSWORD): Promise<Step> {
    return this.submit(page, { action: "login", user, password });
  }

  #cookieFor(path: string): string {
    const fitting = Array.from(this.#cookies).filter(([, cookie]) => path.startsWith(cookie.path));
    return fitting.map(([name, { value }]) => `${name}=${value}`).join("; ");
  }

  #keep(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [pair = "", ...parameters] = cookie.split("; ");
      const [name = "", value = ""] = pair.split("=");
      const path = parameters.find((one) => one.startsWith("path="))?.slice("path=".length) ?? "/";
      if (value === "") this.#cookies.delete(name);
      else this.#cookies.set(name, { value: pair.slice(name.length + 1), path });
    }
  }
}

export interface AuthorizationRequest {
  readonly url: string;
  readonly verifier: string;
}

export function authorizationOf(toy: ToyHub, client: string, more: Record<string, string> = {}): AuthorizationRequest {
  const verifier = randomBytes(32).toString("base64url");
  const parameters = new URLSearchParams({
    response_type: "code",
    client_id: client,
    redirect_uri: REDIRECT,
    state: "s1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${toy.served.address.url}/mcp`,
    ...more,
  });
  for (const [name, value] of Array.from(parameters)) if (value === "") parameters.delete(name);
  return { url: `${toy.served.address.url}/authorize?${parameters}`, verifier };
}

/** Signs in, allows the request, and returns the address to which the browser would return. */
export async function signIn(toy: ToyHub, request: AuthorizationRequest, visitor = new Visitor(toy)): Promise<URL> {
  const first = await visitor.open(request.url);
  const consent = first.text.includes('value="login"') ? await visitor.login(first) : first;
  const done = await visitor.submit(consent, { action: "allow" });
  if (done.location === undefined) throw new Error(`No redirect, but ${done.status}: ${done.text}`);
  return new URL(done.location);
}

export interface Tokens extends JsonObject {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly error?: string;
}

export async function tokenRequest(toy: ToyHub, body: Record<string, string>, headers = {}): Promise<Tokens> {
  const answer = await toy.fetch("/token", { method: "POST", headers, body: new URLSearchParams(body) });
  return (await answer.json()) as Tokens;
}

/** Browsers with a session, cached because a sign-in takes a third of a second. */
const visitors = new WeakMap<ToyHub, Visitor>();

/** Returns tokens for one client after a complete authorization. */
export async function tokensFor(toy: ToyHub, client: string, more: Record<string, string> = {}): Promise<Tokens> {
  const request = authorizationOf(toy, client, more);
  const visitor = visitors.get(toy) ?? new Visitor(toy);
  visitors.set(toy, visitor);
  const code = (await signIn(toy, request, visitor)).searchParams.get("code") ?? "";
  return redeem(toy, client, { code, verifier: request.verifier });
}

export function redeem(
  toy: ToyHub,
  client: string,
  { code, verifier }: { readonly code: string; readonly verifier: string },
): Promise<Tokens> {
  return tokenRequest(toy, {
    grant_type: "authorization_code",
    client_id: client,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT,
  });
}

export function refresh(toy: ToyHub, client: string, token: string): Promise<Tokens> {
  return tokenRequest(toy, { grant_type: "refresh_token", client_id: client, refresh_token: token });
}

export async function statusWith(toy: ToyHub, token = ""): Promise<number> {
  return (await toy.call("meta.ping", {}, { authorization: `Bearer ${token}` })).status;
}
