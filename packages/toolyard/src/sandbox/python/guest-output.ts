import { StringDecoder } from "node:string_decoder";
import type { FromWorker } from "../worker-messages.ts";

type GuestStream = "stdout" | "stderr";

/** Number of pieces that are sent immediately. Later pieces are collected, so that many small pieces cost little. */
const PROMPT_PIECES = 200;
const GATHER_BYTES = 8192;
const GATHER_MS = 20;

/** Output of the guest, up to a limit for both streams; the rest is counted and dropped. */
export class GuestOutput {
  readonly #send: (message: FromWorker) => void;
  #left = 0;
  #pieces = 0;
  #sentAt = 0;
  #gathered = "";
  #stream: GuestStream = "stdout";
  #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #truncated = false;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  /** Starts a new run with its own limit. */
  begin(maxBytes: number): void {
    this.#left = maxBytes;
    this.#pieces = 0;
    this.#gathered = "";
    this.#truncated = false;
    this.#decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  }

  write(stream: GuestStream, bytes: Uint8Array): void {
    if (bytes.length > this.#left) this.#truncated = true;
    const piece = bytes.subarray(0, this.#left);
    if (piece.length === 0) return;
    this.#left -= piece.length;
    if (stream !== this.#stream) this.flush();
    this.#stream = stream;
    // The piece is copied, because it is in the guest's memory.
    this.#gathered += this.#decoders[stream].write(Buffer.from(piece));
    this.#pieces += 1;
    if (
      this.#pieces <= PROMPT_PIECES ||
      this.#gathered.length >= GATHER_BYTES ||
      performance.now() - this.#sentAt >= GATHER_MS
    )
      this.flush();
  }

  flush(): void {
    if (this.#gathered === "") return;
    const text = this.#gathered;
    this.#gathered = "";
    this.#sentAt = performance.now();
    this.#send({ type: "output", stream: this.#stream, text });
  }
}
