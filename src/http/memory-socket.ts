import { Duplex } from "node:stream";

/** One end of a connection within this program: what is written to one side is read from the other. */
class MemorySocket extends Duplex {
  #peer: MemorySocket | undefined;
  #onRead: (() => void) | undefined;

  link(peer: MemorySocket): void {
    this.#peer = peer;
  }

  override _read(): void {
    const resume = this.#onRead;
    this.#onRead = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#peer?.receive(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#peer?.receive(null, () => {});
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const peer = this.#peer;
    // As a network does: the other side learns of the end, and whatever it still writes is lost.
    if (peer && !peer.destroyed) setImmediate(() => peer.destroy());
    this.#onRead?.();
    done(error);
  }

  /** What Node's server calls on a connection that it is done with. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  receive(chunk: Buffer | null, taken: () => void): void {
    if (this.destroyed) return taken();
    if (this.push(chunk) || chunk === null) return taken();
    this.#onRead = taken;
  }
}

/** The two ends of one connection. */
export function memoryConnection(): readonly [MemorySocket, MemorySocket] {
  const options = { allowHalfOpen: true, emitClose: true };
  const [a, b] = [new MemorySocket(options), new MemorySocket(options)];
  a.link(b);
  b.link(a);
  return [a, b];
}
