import type { Socket } from "node:net";

/**
 * Members of the handle of a socket. They are not public. They are needed because only they report how much of a write
 * the system has accepted; the stream reports only its end.
 */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  /** Present on a handle that encrypts: the handle of the underlying connection. */
  readonly _parent?: Handle | null;
}

/**
 * Returns the number of bytes of a connection that the system has accepted; over TLS the number of encrypted bytes.
 */
export function sentBytes(socket: Socket): number {
  const own = (socket as { readonly _handle?: Handle | null })._handle;
  const { bytesWritten = 0, writeQueueSize = 0 } = own?._parent ?? own ?? {};
  return bytesWritten - writeQueueSize;
}

/**
 * Closes the connection of a client that reads nothing of its answer for a certain time. A slow reader may continue.
 */
export class ReaderWatch {
  #timer: NodeJS.Timeout | undefined;

  start(socket: Socket, stallMs: number): void {
    const before = sentBytes(socket);
    this.#timer = setTimeout(() => {
      if (sentBytes(socket) === before) socket.destroy();
      else this.start(socket, stallMs);
    }, stallMs);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
