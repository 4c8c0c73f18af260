import type { Socket } from "node:net";

/**
 * Members of the handle below a socket. They are not public, but nothing else shows a write that the system accepts in
 * parts: the stream counts it at its start and reports it at its end.
 */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  /** On a handle that encrypts: the handle of the connection. */
  readonly _parent?: Handle | null;
}

/** Returns how many bytes of a connection the system has accepted, over TLS as they are sent. */
export function sentBytes(socket: Socket): number {
  const own = (socket as { readonly _handle?: Handle | null })._handle;
  const { bytesWritten = 0, writeQueueSize = 0 } = own?._parent ?? own ?? {};
  return bytesWritten - writeQueueSize;
}

/** Closes the connection of a client that reads nothing of its answer for a time. A slow reader may continue. */
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
