import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { contentDigest } from "../../core/json/digest.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { writeWhole } from "../../files/write-whole.ts";
import type { EraName } from "../connection/era.ts";
import type { ServerListing } from "./listing.ts";

/** Facts about a server that are stored between runs. */
export interface CachedServer {
  /** Era of the server; absent: unknown or outdated. */
  readonly era?: EraName;
  /** Digest of the server's name and version, if it refuses the legacy handshake. */
  readonly modernOnly?: string;
  /** True if the server is known to send requests to its callers. */
  readonly asks: boolean;
  /**
   * Names and URIs that must be called on a connection on which the server can send requests to a legacy caller.
   * @default none
   */
  readonly asking?: readonly string[];
  /** True if the server is known to change its lists because of calls. @default false */
  readonly hasState?: boolean;
  readonly listing: ServerListing;
}

/** Stores a server's last known listing between runs. */
export interface ListingStore {
  load(): Promise<CachedServer | undefined>;
  save(remembered: CachedServer): void;
  /** Waits for running writes. */
  close(): Promise<void>;
}

export interface ListingCacheOptions {
  readonly folder: string;
  /** Source id and data that identify the server: command and arguments, or URL. Only their hash is written to disk. */
  readonly key: readonly string[];
  readonly logger: Logger;
  /**
   * Returns whether a listing contains no secret of the configuration. Other listings are not written. @default all
   * listings are written
   */
  readonly isSecretFree?: (text: string) => boolean;
}

export const LISTING_FORMAT = 2;
/** Maximum size of a listing that is stored. */
const MAX_BYTES = 32 * 1024 * 1024;
/**
 * Number of turns of the event loop before a large list is written, because the list is prepared for callers in the
 * first turns.
 */
const TURNS_BEFORE = 4;
/** Time after which the era is determined again, because an update of the server may have changed it. */
const MAX_ERA_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Stores the last known listing of one server on disk, so that its tools are available before the server is. An invalid
 * file is ignored.
 */
export class ListingCache implements ListingStore {
  readonly #file: string;
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #isSecretFree: (text: string) => boolean;
  #written = "";
  #turn: Promise<void> = Promise.resolve();

  constructor({ folder, key, logger, isSecretFree = () => true }: ListingCacheOptions) {
    this.#isSecretFree = isSecretFree;
    this.#folder = folder;
    this.#file = join(folder, `${contentDigest(stringifyExact(key))}.json`);
    this.#logger = logger;
  }

  /** Returns the last stored state. Contains the era only while it is recent. */
  async load(): Promise<CachedServer | undefined> {
    try {
      const value: unknown = parseExact(await readFile(this.#file, "utf8"));
      return parseRemembered(value);
    } catch {
      return undefined;
    }
  }

  /** Writes in the background, atomically. The same content is not written again. */
  save(remembered: CachedServer): void {
    this.#turn = this.#turn.then(() => turnsLater()).then(() => this.#keep(remembered));
  }

  /** Waits for running writes. */
  async close(): Promise<void> {
    await this.#turn;
  }

  async #keep(remembered: CachedServer): Promise<void> {
    const content = stringifyExact(remembered);
    const digest = contentDigest(content);
    if (digest === this.#written || content.length > MAX_BYTES) return;
    this.#written = digest;
    if (!this.#isSecretFree(content))
      return this.#logger.warning(
        "This server's list contains a secret of the configuration, so the list is not stored on disk.",
      );
    await this.#write(`{"format":${LISTING_FORMAT},"savedAt":${Date.now()},"remembered":${content}}`);
  }

  async #write(text: string): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeWhole(this.#file, text, { isSynced: false });
    } catch (error) {
      this.#logger.warning(
        "The listing of this server could not be stored on disk; it will be read again after a restart.",
        { error: String(error) },
      );
    }
  }
}

async function turnsLater(): Promise<void> {
  for (let turn = 0; turn < TURNS_BEFORE; turn += 1) await nextTurn();
}

/** Parses the stored state; `undefined` if it does not have this format. */
export function parseRemembered(value: unknown): CachedServer | undefined {
  if (!isJsonObject(value) || value["format"] !== LISTING_FORMAT) return undefined;
  const remembered = objectMember(value, "remembered");
  const listing = remembered && objectMember(remembered, "listing");
  if (!listing || !isListing(listing)) return undefined;
  const age = Date.now() - Number(value["savedAt"]);
  const isFresh = age >= 0 && age < MAX_ERA_AGE_MS;
  return { listing, ...behaviourIn(remembered), ...(isFresh && eraIn(remembered)) };
}

function behaviourIn({ asks, asking, hasState }: JsonObject): Omit<CachedServer, "listing" | "era"> {
  return {
    asks: asks === true,
    ...(Array.isArray(asking) && { asking: asking.filter((one) => typeof one === "string") }),
    ...(hasState === true && { hasState }),
  };
}

function eraIn(remembered: JsonObject): Pick<CachedServer, "era" | "modernOnly"> {
  const { era } = remembered;
  if (era !== "legacy" && era !== "modern") return {};
  const modernOnly = stringMember(remembered, "modernOnly");
  return { era, ...(modernOnly !== undefined && { modernOnly }) };
}

function isListing(value: JsonObject): value is JsonObject & ServerListing {
  const lists = ["tools", "resources", "templates", "prompts", "problems"];
  const areLists = lists.every((name) => Array.isArray(value[name]) && (value[name] as unknown[]).every(isJsonObject));
  return areLists && isJsonObject(value["features"]) && (value["server"] === undefined || isSelf(value["server"]));
}

function isSelf(value: unknown): boolean {
  return isJsonObject(value) && isJsonObject(value["info"]) && isJsonObject(value["capabilities"]);
}
