import { loginCommand } from "../core/text/login-command.ts";
import { isJsonObject, stringMember, type JsonObject } from "../core/json/json.ts";
import type { Challenge } from "./challenge.ts";
import { needsPerson, notNow } from "./failures.ts";
import { isPassing, objectIn, type SignInNetwork } from "./network.ts";
import type { ServerRecord } from "./records.ts";

/** Address of the MCP server, and the configured parts of its sign-in. */
export interface DiscoveryTarget {
  readonly label: string;
  readonly url: URL;
  readonly issuer?: string;
  readonly resource?: string;
  /**
   * Requests the configured `issuer` at its own address before the addresses that the resource names. A resource then
   * cannot pose as the issuer. @default false
   */
  readonly asksIssuerFirst?: boolean;
}

export interface DiscoveredServer {
  readonly server: ServerRecord;
  /** The address of the authorization server's metadata; usually its issuer. */
  readonly address: string;
  /** Value of the parameter `resource` of token requests, exactly as in the server's metadata. */
  readonly resource: string;
  /** Scopes of the resource; absent: not declared. */
  readonly scopes?: string;
}

interface ProtectedResource {
  readonly resource: string;
  readonly servers: readonly string[];
  readonly scopes?: string;
}

/**
 * Finds the issuer of an MCP server: first its protected-resource metadata (RFC 9728), from the challenge or at the
 * well-known addresses, then the authorization server's metadata (RFC 8414, OpenID Connect). A server without
 * protected-resource metadata is its own issuer, as in revision 2025-03-26. Rejects with a `FailError`.
 */
export async function discover(
  target: DiscoveryTarget,
  challenge: Pick<Challenge, "metadata"> | undefined,
  network: SignInNetwork,
): Promise<DiscoveredServer> {
  const described = await findResource(target, challenge?.metadata, network);
  if (!described) return { ...(await serverWithoutResource(target, network)), resource: canonical(target) };
  const { servers, resource, scopes } = described;
  const found = await serverNamed(target, servers, network);
  return { ...found, resource: target.resource ?? resource, ...(scopes !== undefined && { scopes }) };
}

type FoundServer = Pick<DiscoveredServer, "address" | "server">;

async function serverNamed(
  target: DiscoveryTarget,
  servers: readonly string[],
  network: SignInNetwork,
): Promise<FoundServer> {
  const { issuer, asksIssuerFirst = false } = target;
  const address = chosenServer(target, servers);
  if (asksIssuerFirst && issuer !== undefined && issuer !== address) {
    const server = await findServer(issuer, issuer, network);
    if (server) return { server, address: issuer };
  }
  const server = await findServer(address, issuer ?? address, network);
  if (!server) throw withoutServer(target, address);
  return { server, address };
}

/** Returns the resource for RFC 8707: no query, no fragment, no final slash. */
function canonical({ url, resource }: DiscoveryTarget): string {
  return resource ?? `${url.origin}${url.pathname === "/" ? "" : url.pathname}`;
}

function chosenServer({ issuer, label }: DiscoveryTarget, servers: readonly string[]): string {
  const chosen = issuer !== undefined && servers.includes(issuer) ? issuer : (servers[0] ?? issuer);
  if (chosen !== undefined) return chosen;
  throw needsPerson(label, "names no authorization server in its metadata. Set `issuer` in its `auth`.");
}

async function findResource(
  target: DiscoveryTarget,
  named: string | undefined,
  network: SignInNetwork,
): Promise<ProtectedResource | undefined> {
  const usual = wellKnownPlaces(target.url);
  for (const address of named === undefined ? usual : [named, ...usual.filter((one) => one !== named)]) {
    const found = await read(address, network);
    if (found) return toResource(found, target);
  }
  return undefined;
}

/**
 * Returns the well-known addresses of the metadata. The query belongs to the address (RFC 9728, 3.1), but the address
 * without it is tried too, for servers that ignore queries.
 */
function wellKnownPlaces({ origin, pathname, search }: URL): readonly string[] {
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const own = pathname === "/" ? root : `${root}${pathname}`;
  return Array.from(new Set([`${own}${search}`, own, root]));
}

function toResource(found: JsonObject, target: DiscoveryTarget): ProtectedResource {
  const resource = stringMember(found, "resource");
  const { label, url, resource: configured } = target;
  if (resource === undefined || !(resource === configured || covers(resource, url))) {
    throw needsPerson(
      label,
      `serves metadata of another resource (${shown(resource)}), so no sign-in was started. Correct ` +
        "`url`, or set `resource` in its `auth` if that resource is right.",
    );
  }
  const servers = listOf(found["authorization_servers"]);
  const scopes = listOf(found["scopes_supported"]);
  return { resource, servers, ...(scopes.length > 0 && { scopes: scopes.join(" ") }) };
}

/**
 * Returns whether a resource covers an address: equal origin, a path at or below the resource's, and the resource's
 * query if it has one.
 */
function covers(resource: string, { origin, pathname, search }: URL): boolean {
  if (!URL.canParse(resource) || resource.includes("#")) return false;
  const own = new URL(resource);
  const folder = own.pathname.endsWith("/") ? own.pathname : `${own.pathname}/`;
  const isOwnQuery = own.search === "" || own.search === search;
  return own.origin === origin && isOwnQuery && `${pathname}/`.startsWith(folder);
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((one) => typeof one === "string" && /^[\x21-\x7e]{1,2048}$/.test(one))
    : [];
}

async function serverWithoutResource(target: DiscoveryTarget, network: SignInNetwork): Promise<FoundServer> {
  const { issuer } = target;
  const address = issuer ?? target.url.origin;
  const server = await findServer(address, address, network);
  if (server) return { server, address };
  if (issuer !== undefined) throw withoutServer(target, address);
  return { server: serverAtOrigin(target.url.origin), address };
}

/** Returns the endpoints of revision 2025-03-26 for a server without metadata. */
function serverAtOrigin(origin: string): ServerRecord {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    // The revision declares no methods and requires PKCE, so S256 is assumed.
    code_challenge_methods_supported: ["S256"],
  };
}

async function findServer(address: string, issuer: string, network: SignInNetwork): Promise<ServerRecord | undefined> {
  let passing: unknown;
  for (const place of placesOf(network.checked(address))) {
    try {
      const found = await read(place, network);
      if (found) return toServer(found, issuer, network);
    } catch (error) {
      if (!isPassing(error)) throw error;
      passing ??= error;
    }
  }
  if (passing !== undefined) throw passing;
  return undefined;
}

function placesOf({ origin, pathname }: URL): readonly string[] {
  const path = pathname.replace(/\/$/, "");
  const [oauth, oidc] = ["oauth-authorization-server", "openid-configuration"].map((n) => `${origin}/.well-known/${n}`);
  return path === ""
    ? [oauth!, oidc!]
    : [`${oauth}${path}`, `${oidc}${path}`, `${origin}${path}/.well-known/openid-configuration`];
}

function toServer(found: JsonObject, issuer: string, network: SignInNetwork): ServerRecord {
  const own = stringMember(found, "issuer");
  if (own !== issuer) {
    throw needsPerson(
      network.label,
      `is not signed in to: its authorization server names itself ${shown(own)}, but ${shown(issuer)} is ` +
        "expected. If that server is right, set `issuer` in its `auth` to exactly that name.",
    );
  }
  const token = stringMember(found, "token_endpoint");
  const authorize = stringMember(found, "authorization_endpoint");
  if (token === undefined)
    throw needsPerson(network.label, `cannot be signed in to: ${shown(issuer)} has no token endpoint.`);
  for (const address of [token, authorize]) if (address !== undefined) network.checked(address);
  const kept = Object.entries(KEPT).flatMap(([name, type]) =>
    isOfType(found[name], type) ? [[name, found[name]] as const] : [],
  );
  return { ...Object.fromEntries(kept), issuer: own, token_endpoint: token };
}

/** Members that are read, with their types. Members of other types are ignored. */
const KEPT = {
  authorization_endpoint: "string",
  registration_endpoint: "string",
  revocation_endpoint: "string",
  device_authorization_endpoint: "string",
  code_challenge_methods_supported: "strings",
  scopes_supported: "strings",
  token_endpoint_auth_methods_supported: "strings",
  authorization_response_iss_parameter_supported: "boolean",
  client_id_metadata_document_supported: "boolean",
} as const;

function isOfType(value: unknown, type: (typeof KEPT)[keyof typeof KEPT]): boolean {
  if (type === "strings") return Array.isArray(value) && value.every((one) => typeof one === "string");
  return typeof value === type;
}

/**
 * Requests a document. Returns `undefined` if there is none. Rejects if the server fails, since the document may exist
 * then.
 */
async function read(address: string, network: SignInNetwork): Promise<JsonObject | undefined> {
  const answer = await network.ask(address, { headers: { accept: "application/json" } });
  if (answer.status >= 500 && answer.status !== 501)
    throw notNow(network.label, `cannot be signed in to for now: ${shown(address)} failed (HTTP ${answer.status}).`);
  const found = answer.status === 200 ? objectIn(answer) : undefined;
  return isJsonObject(found) ? found : undefined;
}

function withoutServer({ label }: DiscoveryTarget, address: string): Error {
  return needsPerson(
    label,
    `cannot be signed in to: its authorization server ${shown(address)} has no metadata. Set ` +
      `\`issuer\` in its \`auth\`, or try \`${loginCommand(label)}\` later.`,
  );
}

/** Formats text of a server for a message to the user. */
export function shown(text: string | undefined): string {
  return text === undefined ? "nothing" : JSON.stringify(text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200));
}
