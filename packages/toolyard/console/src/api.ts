import { signal } from "@preact/signals";
import { HUB_HEADER, KEY_HEADER, type SessionInfo } from "../../src/features/console/api-types.ts";

/** Address of the API, relative to the page, so that it is right below any base path. */
export const API = new URL("../api/admin/", document.baseURI).href;
const KEY_NAME = `toolyard-console-key ${location.pathname}`;
const HUB_NAME = `toolyard-console-hub ${location.pathname}`;

/** Failure that the hub reports, or failure of a request that the hub does not answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly kind: string;
  readonly body: unknown;

  constructor(status: number, { kind, message }: { kind: string; message: string }, body?: unknown) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.body = body;
  }
}

/** True while the last request reached the hub. */
export const isOnline = signal(true);
export const session = signal<SessionInfo | undefined>(undefined);

/**
 * Returns the headers of each request: the session key, because a cookie would also be sent to other ports of this
 * machine, and the hub that this page shows, because a balancer may send the request to any hub of the store.
 */
export function keyHeaders(): Record<string, string> {
  const hub = sessionStorage.getItem(HUB_NAME);
  return { [KEY_HEADER]: localStorage.getItem(KEY_NAME) ?? "open", ...(hub !== null && { [HUB_HEADER]: hub }) };
}

/** Returns true if this page has chosen a hub of the store. */
export function hasHub(): boolean {
  return sessionStorage.getItem(HUB_NAME) !== null;
}

/** Keeps the hub that this page shows. Without an id, the next hub that answers is shown. */
export function keepHub(id: string | undefined): void {
  if (id === undefined) sessionStorage.removeItem(HUB_NAME);
  else sessionStorage.setItem(HUB_NAME, id);
}

/** Shows another hub of the store. */
export function showHub(id: string | undefined): void {
  keepHub(id);
  location.reload();
}

/**
 * Reads the key, or the code of a sign-in link, from the fragment of the address. Any page can lead a browser to such
 * an address, so a key is only kept if the hub accepts it together with the cookie, and a link replaces an open session
 * only with the user's consent.
 */
export async function takeFragment(mayReplace: (user: string) => boolean): Promise<void> {
  const given = new URLSearchParams(location.hash.replace(/^#\/?/, ""));
  const [key, code] = [given.get("key"), given.get("code")];
  if (key === null && code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (key !== null && (await sessionWith(key))) localStorage.setItem(KEY_NAME, key);
  if (code === null) return;
  const open = await sessionWith(localStorage.getItem(KEY_NAME));
  if (open && !mayReplace(open.caller.name ?? open.caller.id)) return;
  const response = await fetch(`${API}session`, { method: "POST", body: new URLSearchParams({ code }) });
  if (response.ok) localStorage.setItem(KEY_NAME, ((await response.json()) as { key: string }).key);
}

/** Returns the browser's session if this key belongs to its cookie. */
async function sessionWith(key: string | null): Promise<SessionInfo | undefined> {
  if (key === null) return undefined;
  const response = await fetch(`${API}session`, { headers: { [KEY_HEADER]: key } });
  if (!response.ok) return undefined;
  const info = (await response.json()) as SessionInfo;
  return info.by === "session" ? info : undefined;
}

export function toSignIn(): void {
  location.assign(new URL("sign-in", document.baseURI).href);
}

export async function signOut(): Promise<void> {
  await call("DELETE", "session");
  localStorage.removeItem(KEY_NAME);
  toSignIn();
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Sends a request and returns the JSON of its answer. Rejects with an `ApiError`. */
export async function call<T>(
  method: Method,
  path: string,
  { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const response = await request(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
    headers: { ...keyHeaders(), ...(body !== undefined && { "content-type": "application/json" }) },
  });
  const value: unknown = await response.json().catch(() => undefined);
  if (response.ok) return value as T;
  throw errorOf(response.status, value);
}

/** Answers of requests that were sent before their view was shown, by path. Each is used once. */
const early = new Map<string, Promise<unknown>>();

/** Requests the data of a view before the view is shown. */
export function prefetch(path: string): void {
  const answer = call("GET", path);
  answer.catch(() => {});
  early.set(path, answer);
}

/** Drops the answers of `prefetch` that no view has used. */
export function dropPrefetched(): void {
  early.clear();
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = early.get(path) as Promise<T> | undefined;
  early.delete(path);
  return answer ?? call<T>("GET", path, { signal });
}

/** Sends a request. If the hub refuses the session, shows the sign-in page. */
export async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(API + path, { ...init, credentials: "same-origin" });
    isOnline.value = true;
    if (response.status === 401) toSignIn();
    // The hub that this page shows has ended.
    if (response.status === 410) showHub(undefined);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    isOnline.value = false;
    throw new ApiError(0, { kind: "offline", message: "The hub does not answer." });
  }
}

export function errorOf(status: number, value: unknown): ApiError {
  const { error } = (value ?? {}) as { error?: { kind?: string; message?: string } };
  return new ApiError(
    status,
    { kind: error?.kind ?? "internal", message: error?.message ?? `The hub answered with status ${status}.` },
    value,
  );
}

/** One server-sent event. */
export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}

/** Reads server-sent events; `EventSource` cannot send the header of the session. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
        const event = parseEvent(text.slice(0, end));
        text = text.slice(end + 2);
        if (event) yield event;
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): StreamEvent | undefined {
  let [event, data, id] = ["message", "", undefined as string | undefined];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (name === "event") event = value;
    else if (name === "data") data += value;
    else if (name === "id") id = value;
  }
  if (data === "") return undefined;
  return { event, data: JSON.parse(data) as unknown, ...(id !== undefined && { id }) };
}
