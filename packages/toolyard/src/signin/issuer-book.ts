import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { codeOf, FailError } from "../core/errors.ts";
import { isJsonObject, stringMember, type JsonObject } from "../core/json/json.ts";
import { fail } from "../core/calls/outcome.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeWhole } from "../files/write-whole.ts";
import { ISSUER_FILE, issuerFile } from "./vault-place.ts";
import type { RecordKey } from "./records.ts";

/** The authorization server of a source's configured credentials. */
export interface IssuerBinding {
  readonly issuer: string;
  /** Address of the issuer's metadata. Metadata at another address can claim the same issuer. */
  readonly address: string;
}

export interface BoundSource extends IssuerBinding {
  /** Id of the source. */
  readonly source: string;
}

/** Key of a binding. All principals of a source share its configured credentials, so the key has no principal. */
export type BindingKey = Pick<RecordKey, "source" | "url">;

type Bindings = Readonly<Record<string, BoundSource>>;

const VERSION = 1;
/** Maximum number of bindings; equals the vault's maximum number of sign-ins. */
const MAX_BINDINGS = 10_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * The bindings of this data folder, shared by all its processes. The file holds no secret: URLs, which may hold
 * secrets, are stored as digests. An unreadable file is never replaced, because that would release every binding.
 */
export class IssuerBook {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = issuerFile(folder);
  }

  async find(key: BindingKey): Promise<IssuerBinding | undefined> {
    return (await this.#read())[keyText(key)];
  }

  async all(): Promise<readonly BoundSource[]> {
    return Object.values(await this.#read());
  }

  /**
   * Adds `binding` unless `keeps` accepts the existing one. Returns the binding that applies afterwards. Of several
   * processes that claim concurrently, the first one decides.
   */
  async claim(
    key: BindingKey,
    binding: IssuerBinding,
    keeps: (known: IssuerBinding) => boolean = () => true,
  ): Promise<IssuerBinding> {
    const known = await this.find(key);
    if (known && keeps(known)) return known;
    return this.#change(async (bindings) => {
      const text = keyText(key);
      const now = bindings[text];
      if (now && keeps(now)) return { bindings, result: now };
      if (!now && Object.keys(bindings).length >= MAX_BINDINGS)
        throw new FailError(fail("limited", `\`${ISSUER_FILE}\` holds ${MAX_BINDINGS} issuers, which is its limit.`));
      const { issuer, address } = binding;
      return { bindings: { ...bindings, [text]: { source: key.source, issuer, address } }, result: binding };
    });
  }

  /** Removes all bindings of a source. Returns their number. */
  async forget(source: string): Promise<number> {
    if (!(await this.all()).some((one) => one.source === source)) return 0;
    return this.#change(async (bindings) => {
      const kept = Object.entries(bindings).filter(([, one]) => one.source !== source);
      return {
        bindings: Object.fromEntries(kept),
        result: Object.keys(bindings).length - kept.length,
      };
    });
  }

  async #change<T>(change: (bindings: Bindings) => Promise<{ bindings: Bindings; result: T }>): Promise<T> {
    try {
      return await withFileLock(`${this.#file}.lock`, async () => {
        const before = await this.#read();
        const { bindings, result } = await change(before);
        if (bindings !== before)
          await writeWhole(this.#file, `${JSON.stringify({ version: VERSION, issuers: bindings }, null, 2)}\n`);
        return result;
      });
    } catch (error) {
      if (error instanceof FailError) throw error;
      throw unusable("could not be written", error);
    }
  }

  async #read(): Promise<Bindings> {
    let text: string;
    try {
      text = await readFile(this.#file, "utf8");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return {};
      throw unusable("could not be read", error);
    }
    const found = text.length > MAX_FILE_BYTES ? undefined : bindingsIn(text);
    if (found) return found;
    throw unusable("is damaged");
  }
}

function keyText({ source, url }: BindingKey): string {
  return createHash("sha256")
    .update(JSON.stringify([source, url]))
    .digest("hex");
}

/** Parses the file. Returns undefined if a member has the wrong type. */
function bindingsIn(text: string): Bindings | undefined {
  const file = parseObject(text);
  const issuers = file?.["issuers"];
  if (file?.["version"] !== VERSION || !isJsonObject(issuers)) return undefined;
  const entries = Object.entries(issuers).map(([key, value]) => [key, toBound(value)] as const);
  return entries.some(([, one]) => one === undefined) ? undefined : (Object.fromEntries(entries) as Bindings);
}

function toBound(value: unknown): BoundSource | undefined {
  if (!isJsonObject(value)) return undefined;
  const [source, issuer, address] = ["source", "issuer", "address"].map((name) => stringMember(value, name));
  if (source === undefined || issuer === undefined || address === undefined) return undefined;
  return { source, issuer, address };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates the failure for an unreadable file. Without the file, the hub cannot know which issuer may receive the
 * credentials.
 */
function unusable(what: string, error?: unknown): FailError {
  const code = codeOf(error);
  const message =
    `\`${ISSUER_FILE}\` in the vault's folder ${what}${code === undefined ? "" : ` (${code})`}. It records which ` +
    "authorization server each server's configured credentials belong to, so none were sent. Repair the file or its " +
    "permissions, or set `issuer` in the server's `auth`.";
  return new FailError(fail("needs_authorisation", message, { details: { sent: false }, cause: error }));
}
