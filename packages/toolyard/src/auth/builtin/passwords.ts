import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** Cost of new hashes (scrypt N): 32 MiB of memory, about 0.1 s on a thread of libuv. */
const COST = 2 ** 15;
const BLOCK_SIZE = 8;
const KEY_BYTES = 32;
const MAX_MEMORY_BYTES = 128 * COST * BLOCK_SIZE * 2;
/** Maximum length of a password in characters; hashing a longer one costs time without a gain in security. */
export const MAX_PASSWORD_CHARS = 256;
export const MIN_PASSWORD_CHARS = 12;
/** Length of a generated password: 120 random bits, so the rules for chosen passwords are unnecessary. */
const GENERATED_BYTES = 15;
/** Maximum number of concurrent hashes, so that sign-ins leave threads of libuv's pool to file access. */
const MAX_AT_ONCE = 2;
/** Maximum number of sign-ins that wait for a thread; further ones are refused. */
const MAX_WAITING = 20;

/** Error: the queue of password checks is full. */
export class TooManyChecks extends Error {
  override readonly name = "TooManyChecks";
}

export function generatePassword(): string {
  return randomBytes(GENERATED_BYTES).toString("base64url");
}

/** Hashes passwords outside the main thread, at most `MAX_AT_ONCE` concurrently. */
export class Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const key = await this.#derive(password, { salt, cost: COST });
    return `scrypt$${COST}$${salt.toString("base64url")}$${key.toString("base64url")}`;
  }

  /**
   * Compares a password with a hash. Without a hash it takes the same time and returns false, so that the time does not
   * reveal which users exist.
   */
  async verify(password: string, hash: string = ABSENT): Promise<boolean> {
    const [scheme, cost, salt = "", key = ""] = hash.split("$");
    if (scheme !== "scrypt" || password.length > MAX_PASSWORD_CHARS) return false;
    const wanted = Buffer.from(key, "base64url");
    const found = await this.#derive(password, { salt: Buffer.from(salt, "base64url"), cost: Number(cost) });
    return hash !== ABSENT && wanted.length === found.length && timingSafeEqual(wanted, found);
  }

  async #derive(password: string, { salt, cost }: { readonly salt: Buffer; readonly cost: number }): Promise<Buffer> {
    await this.#enter();
    try {
      return await new Promise((resolve, reject) => {
        const options = { N: cost, r: BLOCK_SIZE, p: 1, maxmem: MAX_MEMORY_BYTES };
        scrypt(password.normalize("NFKC"), salt, KEY_BYTES, options, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      });
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running >= MAX_AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING) throw new TooManyChecks("Too many sign-ins at the same time.");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
  }
}

const ABSENT = `scrypt$${COST}$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`;
