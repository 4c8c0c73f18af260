import { connect as connectTcp, type LookupFunction, type OnReadOpts, type Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { AnswerParser, type AnswerListener } from "./answer-parser.ts";
import type { WireRequest, RequestHolder } from "./wire-request.ts";
import { Http1Fault, notHttp } from "./fault.ts";
import type { ResponseHead } from "./head.ts";
import { IdleTimer } from "../../../core/timing/idle-timer.ts";
import { atTurnEnd } from "../../../core/timing/turn-end.ts";

/** Target of a pool's connections. */
export interface Destination {
  readonly host: string;
  readonly port: number;
  readonly connectTimeoutMs: number;
  /** Time for which an idle connection is kept if the server sends none. */
  readonly keepAliveMs: number;
  readonly lookup: LookupFunction | undefined;
  /** Opens a connection with TLS; absent: connections without TLS. */
  readonly connectTls: ((options: ConnectionOptions) => Socket) | undefined;
  /** Read buffer that all connections share. Its content is consumed before the next read. */
  readonly readBuffer: Buffer;
}

export interface ConnectionOwner {
  /** Called when the connection can carry another request. */
  onFree(connection: Http1Connection): void;
  /**
   * Called when the connection has closed. `unsent`: the request that was assigned to it, if no byte of the request was
   * written.
   */
  onGone(connection: Http1Connection, unsent: WireRequest | undefined): void;
}

/**
 * Time that is subtracted from the server's keep-alive time, because the server may close the connection while the next
 * request is on its way.
 */
const KEEP_ALIVE_MARGIN_MS = 2000;
const MAX_KEEP_ALIVE_MS = 600_000;
const TCP_KEEP_ALIVE_MS = 60_000;

/**
 * A connection that carries one request at a time. A request is written in one piece and never sent again. Bytes that
 * arrive while no answer is expected close the connection, because they would be read as the answer to the next
 * request.
 */
export class Http1Connection implements AnswerListener, RequestHolder {
  readonly #destination: Destination;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser: AnswerParser;
  readonly #silence: IdleTimer;
  #asked: WireRequest | undefined;
  #isConnected = false;
  /** True while a request waits until the socket has been checked for pending bytes. */
  #isLooking = false;
  /**
   * True if the socket was read in this turn of the event loop, so that the next check must wait for the next turn.
   */
  #isFresh = false;
  #isWritten = false;
  #isGone = false;
  #keptMs = 0;

  constructor(destination: Destination, owner: ConnectionOwner, first: WireRequest) {
    this.#destination = destination;
    this.#owner = owner;
    this.#asked = first;
    first.keeper = this;
    this.#parser = new AnswerParser(this);
    this.#silence = new IdleTimer(() => this.#onSilence());
    this.#silence.expect(destination.connectTimeoutMs);
    this.#socket = this.#connect();
  }

  /** The request that the connection carries. */
  get asked(): WireRequest | undefined {
    return this.#asked;
  }

  /** Carries a request over an idle connection. */
  carry(asked: WireRequest): void {
    this.#asked = asked;
    asked.keeper = this;
    this.#silence.end();
    this.#socket.ref();
    this.#isLooking = true;
    if (this.#isFresh) atTurnEnd(() => this.#look());
    else this.#look();
  }

  /**
   * Waits until the socket was read in this turn of the event loop, because pending bytes, or the end of the
   * connection, must be detected before a request is written. `atTurnEnd` is not sufficient: the current turn may have
   * read its sockets already.
   */
  #look(): void {
    setImmediate(() => this.#onLooked());
  }

  giveUp(asked: WireRequest): void {
    if (this.#asked !== asked) return;
    this.#letGo();
    // If the request was not yet written, the connection can be used again, so it is not closed.
    if (!this.#isLooking) this.#end();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(error: Error): void {
    const asked = this.#letGo();
    this.#end();
    asked?.sink.fail(error);
  }

  onInterim(): void {
    this.#silence.expect(this.#asked!.silenceMs);
  }

  onHead({ status, header, keepsAlive, keepAliveMs }: ResponseHead): void {
    const { silenceMs, sink } = this.#asked!;
    const hinted = keepAliveMs === undefined ? this.#destination.keepAliveMs : keepAliveMs - KEEP_ALIVE_MARGIN_MS;
    this.#keptMs = keepsAlive ? Math.min(hinted, MAX_KEEP_ALIVE_MS) : 0;
    this.#silence.expect(silenceMs);
    sink.head(status, header);
  }

  onData(data: Buffer): void {
    const asked = this.#asked;
    if (!asked) return;
    this.#silence.expect(asked.silenceMs);
    // Copied, because all connections share the buffer.
    asked.sink.data(Buffer.from(data));
  }

  #connect(): Socket {
    const { host, port, lookup, connectTls, readBuffer } = this.#destination;
    const onread: OnReadOpts = { buffer: readBuffer, callback: (length) => this.#onRead(length) };
    const options = { host, port, onread, ...(lookup && { lookup }) };
    const socket = connectTls ? connectTls(options) : connectTcp(options);
    socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.once(connectTls ? "secureConnect" : "connect", () => this.#onConnected());
    socket.on("error", (error) => this.#onOver(error));
    socket.once("end", () => this.#onOver());
    socket.once("close", () => this.#onOver());
    return socket;
  }

  #onConnected(): void {
    if (this.#isGone) return;
    this.#isConnected = true;
    this.#write(this.#asked!);
  }

  #onLooked(): void {
    this.#isLooking = false;
    if (this.#isGone) return;
    if (this.#asked) this.#write(this.#asked);
    else this.#rest();
  }

  #write({ bytes, silenceMs }: WireRequest): void {
    this.#isWritten = true;
    this.#parser.reset();
    this.#silence.expect(silenceMs);
    if (bytes.encoding === undefined) this.#socket.write(bytes.data);
    else this.#socket.write(bytes.data, bytes.encoding);
  }

  /** Returns false if reading must pause. */
  #onRead(length: number): boolean {
    if (this.#isGone) return false;
    if (!this.#isWritten) {
      this.#onOver(notHttp("it came before anything was asked"));
      return false;
    }
    try {
      const used = this.#parser.feed(this.#destination.readBuffer.subarray(0, length));
      if (this.#parser.isOver && !this.#isGone) this.#complete(used < length);
    } catch (error) {
      this.#onOver(error as Error);
    }
    return !this.#isGone && !this.#asked?.paused;
  }

  #complete(hasMore: boolean): void {
    const asked = this.#letGo();
    this.#isWritten = false;
    // If the answer ends before the whole request was sent, the server may not read the rest, so the connection is
    // closed.
    if (hasMore || this.#keptMs <= 0 || this.#socket.writableLength > 0) this.#end();
    else this.#keep();
    asked?.sink.end();
  }

  #keep(): void {
    this.#isFresh = true;
    atTurnEnd(() => {
      this.#isFresh = false;
    });
    this.#rest();
  }

  #rest(): void {
    this.#silence.expect(this.#keptMs);
    this.#socket.unref();
    this.#owner.onFree(this);
  }

  #onSilence(): void {
    const asked = this.#asked;
    if (!asked) return this.#end();
    if (asked.paused) return this.#silence.expect(asked.silenceMs);
    this.#onOver(
      this.#isConnected
        ? new Http1Fault("TOOLYARD_SILENT", "The server sent nothing for too long.")
        : new Http1Fault("TOOLYARD_CONNECT_TIMEOUT", "The server did not accept a connection in time."),
    );
  }

  /** Detaches the request from this connection, and resumes reading if its answer had paused it. */
  #letGo(): WireRequest | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    if (!asked) return undefined;
    asked.keeper = undefined;
    if (asked.paused) this.#socket.resume();
    return asked;
  }

  /** Ends the connection after an event of the socket or an invalid answer. */
  #onOver(error?: Error): void {
    if (this.#isGone) return;
    if (this.#isWritten && error === undefined && this.#parser.endsHere()) {
      this.#keptMs = 0;
      return this.#complete(false);
    }
    const asked = this.#letGo();
    const isUnsent = this.#isConnected && !this.#isWritten;
    this.#end(isUnsent ? asked : undefined);
    if (!isUnsent) asked?.sink.fail(error ?? closed());
  }

  #end(unsent?: WireRequest): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#parser.stop();
    this.#silence.close();
    this.#socket.destroy();
    this.#owner.onGone(this, unsent);
  }
}

function closed(): Http1Fault {
  return new Http1Fault("TOOLYARD_CLOSED", "The server closed the connection before its answer was complete.");
}
