import { GatheredBytes } from "../../../../core/gathered-bytes.ts";
import type { ArrivingBytes } from "../../../request/body-budget.ts";
import { incomplete, tooSlow } from "../../../request/body-refusals.ts";
import type { BodyAccounts } from "../../../wire.ts";

interface Reader {
  readonly resolve: (body: Buffer) => void;
  readonly reject: (reason: Error) => void;
  readonly account: ArrivingBytes;
}

/** Body of known length that arrives after its head. Its bytes are held until it is read, and are then counted. */
export class IncomingBody {
  readonly #gathered = new GatheredBytes();
  readonly #onChange: () => void;
  #missing: number;
  #reader: Reader | undefined;
  #isDropped = false;
  #failure: Error | undefined;

  /** `onChange` is called when held bytes are read or dropped. */
  constructor(bytes: number, onChange: () => void) {
    this.#missing = bytes;
    this.#onChange = onChange;
  }

  get isWhole(): boolean {
    return this.#missing === 0;
  }

  /** Number of held bytes without a reader. */
  get unreadBytes(): number {
    return this.#reader ? 0 : this.#gathered.length;
  }

  /** Takes the bytes at the start of `chunk` that belong to the body. Returns their number. */
  take(chunk: Buffer): number {
    const own = Math.min(chunk.length, this.#missing);
    this.#missing -= own;
    if (this.#isDropped) return own;
    this.#gathered.push(chunk.subarray(0, own));
    this.#reader?.account.resize(this.#gathered.length);
    if (this.isWhole) this.#deliver();
    return own;
  }

  /** Resolves when the body is complete. Rejects with a `Refusal` if it ends early or is released. */
  read(accounts: BodyAccounts): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      const account = accounts.openBody(() => this.#fail(tooSlow()));
      this.#reader = { resolve, reject, account };
      account.resize(this.#gathered.length);
      if (this.isWhole) this.#deliver();
      this.#onChange();
    });
  }

  /** Releases the held bytes. The rest is read from the connection and dropped. */
  drop(): void {
    this.#isDropped = true;
    this.#gathered.clear();
    this.#onChange();
  }

  /** Reports that the connection ended before the body was complete. */
  end(): void {
    if (!this.isWhole) this.#fail(incomplete());
  }

  #deliver(): void {
    if (!this.#reader) return;
    this.#reader.account.close();
    this.#reader.resolve(this.#gathered.take());
  }

  #fail(reason: Error): void {
    this.#failure = reason;
    this.#reader?.account.close();
    this.#reader?.reject(reason);
    this.drop();
  }
}
