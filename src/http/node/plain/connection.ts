import type { Socket } from "node:net";
import { Silence } from "../../../core/silence.ts";
import { PlainHeadReader, type PlainHead } from "./request-head.ts";
import { PlainWire, type WireConnection } from "./wire.ts";

export interface PlainLimits {
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly streamStallMs: number;
}

/** Who serves what comes over a connection. */
export interface PlainOwner {
  serve(wire: PlainWire): void;
  /** The answer is through, or its caller has gone. */
  over(wire: PlainWire): void;
  /** Something came that is not plain. Nothing of it was taken from the connection. */
  handOver(socket: Socket): void;
}

/** As Node's own server words it. */
const TIMEOUT_ANSWER = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

/** What may wait behind a request. Up to it the connection is read on, since only then its end is noticed. */
const MAX_HELD_BYTES = 64 * 1024;

/**
 * A connection over which plain requests come: whole in one piece, one after another. Nearly all requests of programs
 * are such, and cost less here than in Node's server, which does much more. The first that is not, and all after it, go
 * there, just as they came.
 */
export class PlainConnection implements WireConnection {
  readonly socket: Socket;
  readonly limits: PlainLimits;
  readonly onThrough: (error?: Error | null) => void;
  readonly #owner: PlainOwner;
  readonly #heads: PlainHeadReader;
  readonly #silence: Silence;
  readonly #onData = (chunk: Buffer): void => this.#came(chunk);
  readonly #onEnd = (): void => void this.socket.end();
  readonly #onClose = (): void => this.#closed();
  #wire: PlainWire | undefined;
  /** What came behind the request under way. */
  #held: Buffer | undefined;
  #isUsed = false;

  /** Reads what comes over a connection from which nothing was read yet. */
  static begin(socket: Socket, limits: PlainLimits, owner: PlainOwner): void {
    const connection = new PlainConnection(socket, limits, owner);
    socket
      .on("data", connection.#onData)
      .on("end", connection.#onEnd)
      .on("error", ignore)
      .on("close", connection.#onClose);
    connection.#silence.expect(limits.requestTimeoutMs);
    socket.resume();
  }

  private constructor(socket: Socket, limits: PlainLimits, owner: PlainOwner) {
    this.socket = socket;
    this.limits = limits;
    this.#owner = owner;
    this.#heads = new PlainHeadReader(limits.maxHeaderBytes);
    this.#silence = new Silence(() => this.#onSilence());
    // What could not be written ends the connection, which tells of it.
    this.onThrough = (error) => error ?? this.#through();
  }

  #came(chunk: Buffer): void {
    if (this.#wire) this.#hold(this.#held ? Buffer.concat([this.#held, chunk]) : chunk);
    else this.#take(chunk);
  }

  #hold(bytes: Buffer): void {
    this.#held = bytes;
    if (this.#isFull()) this.socket.pause();
  }

  #isFull(): boolean {
    return this.#held !== undefined && this.#held.length > MAX_HELD_BYTES;
  }

  #take(bytes: Buffer): void {
    const head = this.#heads.read(bytes);
    const end = head ? this.#heads.end + head.bodyBytes : 0;
    if (!head || head.bodyBytes > this.limits.maxBodyBytes || end > bytes.length) return this.#handOver(bytes);
    if (end < bytes.length) this.#hold(bytes.subarray(end));
    this.#serve(head, bytes.subarray(this.#heads.end, end));
  }

  #serve(head: PlainHead, body: Buffer): void {
    this.#isUsed = true;
    this.#silence.end();
    this.#wire = new PlainWire(head, body, this);
    this.#owner.serve(this.#wire);
  }

  /** The answer has left. */
  #through(): void {
    const wire = this.#wire;
    if (!wire || this.socket.destroyed) return;
    this.#wire = undefined;
    if (wire.closes) this.socket.destroySoon();
    wire.over();
    this.#owner.over(wire);
    if (this.socket.destroyed || this.socket.writableEnded) return;
    const held = this.#held;
    if (!held) return this.#silence.expect(this.limits.idleTimeoutMs);
    this.#held = undefined;
    this.#take(held);
    if (this.#wire && !this.#isFull()) this.socket.resume();
  }

  /** Node's server has it from here on, with what was read. */
  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#silence.close();
    socket.off("data", this.#onData).off("end", this.#onEnd).off("error", ignore).off("close", this.#onClose);
    socket.pause();
    socket.unshift(bytes);
    this.#owner.handOver(socket);
  }

  #onSilence(): void {
    if (this.#wire) return;
    if (!this.#isUsed) this.socket.write(TIMEOUT_ANSWER, "latin1");
    this.socket.destroySoon();
  }

  #closed(): void {
    this.#silence.close();
    const wire = this.#wire;
    if (!wire) return;
    this.#wire = undefined;
    wire.over();
    this.#owner.over(wire);
  }
}

function ignore(): void {
  // What breaks a connection closes it.
}
