import { messageOf } from "../../core/errors.ts";
import { parseJsonObject } from "../../core/json/json-object-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { mayBePublic } from "../../outbound/addresses.ts";
import { OutboundClient, type OutboundRequest, type OutboundResponse } from "../../outbound/outbound-client.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import { ProviderUnavailable } from "../token-error.ts";

export interface ProviderPlace {
  /** Issuer identifier, a configured address. */
  readonly issuer: string;
  readonly timeoutMs: number;
  readonly environment: ProxyEnvironment;
}

const MAX_BYTES = 512 * 1024;

/** Requests JSON from the identity provider: bounded in time and size, without redirects. */
export class ProviderClient {
  readonly #place: ProviderPlace;
  readonly #client: OutboundClient;

  constructor(place: ProviderPlace) {
    this.#place = place;
    this.#client = new OutboundClient({ userAgent: "toolyard", environment: place.environment });
  }

  /**
   * Resolves with a JSON object. Rejects with `ProviderUnavailable` for any response other than a 200 with a JSON
   * object.
   */
  async read(address: string, sent: Pick<OutboundRequest, "method" | "headers" | "body"> = {}): Promise<JsonObject> {
    const answer = await this.send(address, sent);
    const value = answer.status === 200 ? parseJsonObject(answer.body.toString("utf8")) : undefined;
    return value ?? this.#refuse(address, answer.status);
  }

  /** Resolves with any JSON value, such as a list. Rejects like `read`. */
  async readJson(address: string, sent: Pick<OutboundRequest, "headers"> = {}): Promise<unknown> {
    const answer = await this.send(address, sent);
    const whole = answer.status === 200 ? parseJsonObject(`{"value":${answer.body.toString("utf8")}}`) : undefined;
    return whole ? whole["value"] : this.#refuse(address, answer.status);
  }

  /** Returns an address of the provider for a browser. Throws `ProviderUnavailable` if it cannot be used. */
  browserUrl(address: string): URL {
    return this.#checked(address);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #refuse(address: string, status: number): never {
    throw new ProviderUnavailable(
      `The identity provider at ${new URL(address).origin} answered ${status} without a JSON object.`,
    );
  }

  /** Resolves with any answer. Rejects with `ProviderUnavailable` if the provider does not answer. */
  async send(address: string, sent: Pick<OutboundRequest, "method" | "headers" | "body">): Promise<OutboundResponse> {
    const url = this.#checked(address);
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

  /**
   * Returns the address. Throws for an http address if the issuer uses https: keys that arrive unencrypted could be
   * replaced on the way.
   */
  #checked(address: string): URL {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const isPlain = url?.protocol === "http:" && new URL(this.#place.issuer).protocol === "http:";
    if (url && (url.protocol === "https:" || isPlain) && url.username === "" && url.password === "") return url;
    throw new ProviderUnavailable("The identity provider's metadata names an address that cannot be used.");
  }

  /**
   * Returns the addresses that may be connected to. Metadata of a public provider must not lead into the hub's own
   * network.
   */
  #reachOf(url: URL): OutboundRequest["reach"] {
    const issuer = new URL(this.#place.issuer);
    return url.origin === issuer.origin || !mayBePublic(issuer) ? "origin" : "public";
  }
}
