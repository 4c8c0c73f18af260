import { setTimeout as delay } from "node:timers/promises";
import { fail } from "../core/calls/outcome.ts";
import { FailError } from "../core/errors.ts";
import { parseExact, stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject } from "../core/json/json.ts";
import { TableFullError } from "../state/ports/auth-state.ts";
import { LeaseTakenError, MAX_VAULT_RECORDS, type SharedVault, type VaultPlace } from "../state/ports/shared-vault.ts";
import { StoreLostError } from "../state/ports/store.ts";
import type { BindingKey, BoundSource, IssuerBinding } from "./issuer-book.ts";
import { recordKeyText, type RecordKey, type SignInRecord } from "./records.ts";
import { REDEEM_WAIT_MS, type IssuerBindings, type SharedSignIns, type SignInVault } from "./vault-port.ts";

/** Maximum number of attempts to change a record that other hubs change at the same time. */
const MAX_ATTEMPTS = 50;
/**
 * Time for which a change waits for a lost store to be back. A renewed token that is not stored would be lost for the
 * other hubs, and the refresh token before it works only once.
 */
const LOSS_WAIT_MS = 10_000;
const LOSS_POLL_MS = 250;
const RETRY_MS = 2000;

/** Returns the sign-ins of all hubs of a store. */
export function sharedSignIns(shared: SharedVault): SharedSignIns {
  return {
    vault: new StoreVault(shared),
    issuers: new StoreIssuers(shared),
    get version() {
      return shared.version;
    },
  };
}

/** Sign-ins in the store that several hubs share. */
class StoreVault implements SignInVault {
  readonly #shared: SharedVault;

  constructor(shared: SharedVault) {
    this.#shared = shared;
  }

  async find(key: RecordKey): Promise<SignInRecord | undefined> {
    return parse<SignInRecord>(
      (await usable(() => this.#shared.find({ table: "sign-ins", name: recordKeyText(key) }))).value,
    );
  }

  async all(): Promise<readonly SignInRecord[]> {
    return parseAll<SignInRecord>(await usable(() => this.#shared.all("sign-ins")));
  }

  update(
    key: RecordKey,
    change: (record: SignInRecord | undefined) => SignInRecord | undefined,
  ): Promise<SignInRecord | undefined> {
    return usable(() =>
      throughLoss(() => changeValue(this.#shared, { table: "sign-ins", name: recordKeyText(key) }, change)),
    );
  }

  exclusively<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return usable(() => this.#shared.exclusively(name, work, { waitMs: REDEEM_WAIT_MS, signal }));
  }
}

/** Issuers of configured credentials in the store that several hubs share. */
class StoreIssuers implements IssuerBindings {
  readonly #shared: SharedVault;

  constructor(shared: SharedVault) {
    this.#shared = shared;
  }

  async find(key: BindingKey): Promise<IssuerBinding | undefined> {
    return parse<BoundSource>((await usable(() => this.#shared.find({ table: "issuers", name: nameOf(key) }))).value);
  }

  async all(): Promise<readonly BoundSource[]> {
    return parseAll<BoundSource>(await usable(() => this.#shared.all("issuers")));
  }

  async claim(
    key: BindingKey,
    { issuer, address }: IssuerBinding,
    keeps: (known: IssuerBinding) => boolean = () => true,
  ): Promise<IssuerBinding> {
    const { source, url } = key;
    const bound = { source, url, issuer, address };
    const claimed = await usable(() =>
      changeValue<StoredBinding>(this.#shared, { table: "issuers", name: nameOf(key) }, (known) =>
        known && keeps(known) ? known : bound,
      ),
    );
    return claimed!;
  }

  async forget(source: string): Promise<number> {
    const stored = parseAll<StoredBinding>(await usable(() => this.#shared.all("issuers")));
    const bound = stored.filter((one) => one.source === source);
    for (const key of bound)
      await usable(() => changeValue(this.#shared, { table: "issuers", name: nameOf(key) }, () => undefined));
    return bound.length;
  }
}

/**
 * Binding with the address of its server. The files of a vault store only a digest of the address; here, the store
 * encrypts it.
 */
type StoredBinding = BoundSource & BindingKey;

function nameOf({ source, url }: BindingKey): string {
  return JSON.stringify([source, url]);
}

async function changeValue<T extends object>(
  shared: SharedVault,
  place: VaultPlace,
  change: (value: T | undefined) => T | undefined,
): Promise<T | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const entry = await shared.find(place);
    const before = parse<T>(entry.value);
    const after = change(before);
    if (after === before) return after;
    if (await shared.replace(place, entry, after && stringifyExact(after))) return after;
  }
  throw new StoreLostError({ cause: new Error("Other hubs change the record all the time.") });
}

/** Repeats a change while the store cannot be reached, for a limited time. */
async function throughLoss<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + LOSS_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreLostError) || performance.now() > until) throw error;
      await delay(LOSS_POLL_MS);
    }
  }
}

/** Converts the errors of the store to failures with advice. */
async function usable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreLostError) throw storeLost(error);
    if (error instanceof LeaseTakenError) throw leaseTaken(error);
    if (!(error instanceof TableFullError)) throw error;
    const words = `The vault holds ${MAX_VAULT_RECORDS} sign-ins, which is its limit.`;
    throw new FailError(fail("limited", words, { cause: error }));
  }
}

function storeLost(cause: Error): FailError {
  const words = "the sign-ins cannot be read, because the shared store cannot be reached. Try again in a few seconds.";
  return new FailError(fail("unavailable", words, { retryAfterMs: RETRY_MS, details: { sent: false }, cause }));
}

function leaseTaken(cause: Error): FailError {
  const words = "another hub is still renewing this sign-in. Try again in a few seconds.";
  return new FailError(fail("unavailable", words, { retryAfterMs: RETRY_MS, details: { sent: false }, cause }));
}

function parse<T extends object>(text: string | undefined): T | undefined {
  const value = text === undefined ? undefined : parseExact(text);
  return isJsonObject(value) ? (value as T) : undefined;
}

function parseAll<T extends object>(texts: readonly string[]): readonly T[] {
  return texts.map((text) => parse<T>(text)).filter((value) => value !== undefined);
}
