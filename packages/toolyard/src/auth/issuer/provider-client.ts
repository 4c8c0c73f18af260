import { messageOf } from "../../core/errors.ts";
import { isDeeperThan } from "../../core/json/json-depth.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { mayBePublic } from "../../outbound/addresses.ts";
import { OutboundClient, type OutboundRequest } from "../../outbound/outbound-client.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import { ProviderUnavailable } from "../token-error.ts";

export interface ProviderPlace {
  /** The issuer identifier; a configured address. */
  readonly issuer: string;
  readonly timeoutMs: number;
  readonly environment: ProxyEnvironment;
}

const MAX_BYTES = 512 * 1024;
const MAX_DEPTH = 20;

/** Requests JSON from the identity provider: bounded in time and size, without redirects. */
export class ProviderClient {
  readonly #place: ProviderPlace;
  readonly #client: OutboundClient;

  constructor(place: ProviderPlace) {
    this.#place = place;
    this.#client = new OutboundClient({ userAgent: "toolyard", environment: place.environment });
  }

  /** Rejects with `ProviderUnavailable` for anything but a 200 with a JSON object. */
  async read(address: string, sent: Pick<OutboundRequest, "method" | "headers" | "body"> = {}): Promise<JsonObject> {
    const answer = await this.#ask(address, sent);
    const value = answer.status === 200 ? parseObject(answer.body.toString("utf8")) : undefined;
    if (value) return value;
    throw new ProviderUnavailable(
      `The identity provider at ${new URL(address).origin} answered ${answer.status} without a JSON object.`,
    );
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #ask(address: string, sent: Pick<OutboundRequest, "method" | "headers" | "body">) {
    const url = checkedAddress(address);
    try {
      return await this.#client.request({
        ...sent,
        service: `The identity provider at ${url.host}`,
        url,
        timeoutMs: this.#place.timeoutMs,
        maxBytes: MAX_BYTES,
        reach: this.#reachOf(url),
        follows: false,
      });
    } catch (error) {
      throw new ProviderUnavailable(messageOf(error));
    }
  }

  /** Metadata of a public provider must not lead to addresses of the hub's own network. */
  #reachOf(url: URL): OutboundRequest["reach"] {
    const issuer = new URL(this.#place.issuer);
    return url.origin === issuer.origin || !mayBePublic(issuer) ? "origin" : "public";
  }
}

function checkedAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
  throw new ProviderUnavailable("The identity provider's metadata names an address that cannot be used.");
}

function parseObject(text: string): JsonObject | undefined {
  if (isDeeperThan(text, MAX_DEPTH)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
